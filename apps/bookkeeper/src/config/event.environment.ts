import { IsIntIn, Setting } from '@tollgate/common';

/** The events of payments for other programs. */
export class EventEnvironment {
  @Setting({
    help: 'Events of payments that are kept for streams that resume, about 1 KB each in the database; above this number the oldest are removed.',
  })
  @IsIntIn(1_000, 100_000_000)
  readonly bookEventsKept: number = 1_000_000;

  @Setting({ help: 'Streams of payment events that may be open at one bookkeeper.' })
  @IsIntIn(1, 10_000)
  readonly operatorStreams: number = 50;
}
