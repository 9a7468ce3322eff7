import { IsIntIn, Setting } from '@tollgate/common';

/** Jobs that other services put directly into the queue. */
export class MessageEnvironment {
  @Setting({
    help: 'Seconds after its issuedAt for which a job that another service put directly into the queue is accepted.',
  })
  // Idempotency keys are remembered for a week; an older copy of a message could be taken for a new one.
  @IsIntIn(1, 518_400)
  readonly messageMaxAgeSeconds: number = 3_600;
}
