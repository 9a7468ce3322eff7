import { Setting } from '@tollgate/common';
import { IsInt, Max, Min } from 'class-validator';

/** What other services put into the queue themselves. */
export class MessageEnvironment {
  @Setting({
    help: 'Seconds after its issuedAt in which a job that another service put into the queue itself is accepted.',
  })
  @IsInt()
  @Min(1)
  // Idempotency keys are remembered for a week: an older copy of a message could be taken for a new one.
  @Max(518_400)
  readonly messageMaxAgeSeconds: number = 3_600;
}
