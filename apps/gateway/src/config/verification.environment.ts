import { IsIntIn, Setting, type ChecksTogether } from '@tollgate/common';

/** How the gateway asks a verifier about a payment. */
export class VerificationEnvironment implements ChecksTogether {
  @Setting({ help: 'Milliseconds for the verification of a payment; after that the response is 503.' })
  @IsIntIn(100, 120_000)
  readonly verifyDeadlineMs: number = 10_000;

  @Setting({ help: 'Milliseconds after which an unanswered question is sent to a verifier again.' })
  @IsIntIn(50, 120_000)
  readonly verifyRetryMs: number = 4_000;

  @Setting({ help: 'Questions that may wait for a verifier; above it the response is 503 immediately.' })
  @IsIntIn(1, 1_000_000)
  readonly verifyQueueLimit: number = 1_000;

  @Setting({
    help: 'Milliseconds for the settlement of a signed payment; after that the response is 503 settlement_pending.',
  })
  @IsIntIn(100, 120_000)
  readonly settleDeadlineMs: number = 15_000;

  problemsTogether(): string[] {
    return this.verifyRetryMs < this.verifyDeadlineMs
      ? []
      : ['VERIFY_RETRY_MS must be below VERIFY_DEADLINE_MS, or a lost question is never repeated.'];
  }
}
