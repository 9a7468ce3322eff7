import { Setting } from '@tollgate/common';
import { IsInt, Max, Min } from 'class-validator';

/** Jobs that other services put directly into the queue. */
export class MessageEnvironment {
  @Setting({
    help: 'Seconds after its issuedAt for which a job that another service put directly into the queue is accepted.',
  })
  @IsInt()
  @Min(1)
  // Idempotency keys are remembered for a week; an older copy of a message could be taken for a new one.
  @Max(518_400)
  readonly messageMaxAgeSeconds: number = 3_600;
}
