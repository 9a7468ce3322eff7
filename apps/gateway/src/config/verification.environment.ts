import { Setting, type ChecksTogether } from '@tollgate/common';
import { IsInt, Max, Min } from 'class-validator';

/** How a proof is put to a verifier. */
export class VerificationEnvironment implements ChecksTogether {
  @Setting({ help: 'Milliseconds within which a proof is judged; then the answer is 503.' })
  @IsInt()
  @Min(100)
  @Max(120_000)
  readonly verifyDeadlineMs: number = 10_000;

  @Setting({ help: 'Milliseconds after which an unanswered question is put to a verifier again.' })
  @IsInt()
  @Min(50)
  @Max(120_000)
  readonly verifyRetryMs: number = 4_000;

  @Setting({ help: 'Questions that may wait for a verifier; above it the answer is 503 at once.' })
  @IsInt()
  @Min(1)
  @Max(1_000_000)
  readonly verifyQueueLimit: number = 1_000;

  @Setting({ help: 'Milliseconds within which a signed payment is settled; then the answer is that it is under way.' })
  @IsInt()
  @Min(100)
  @Max(120_000)
  readonly settleDeadlineMs: number = 15_000;

  problemsTogether(): string[] {
    return this.verifyRetryMs < this.verifyDeadlineMs
      ? []
      : ['VERIFY_RETRY_MS must be below VERIFY_DEADLINE_MS, or a lost question is never asked again.'];
  }
}
