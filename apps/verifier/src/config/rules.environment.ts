import { AcceptanceEnvironment, IsIntIn, Setting } from '@tollgate/common';

/** The rules for payments beyond the acceptance policy, and how long the verifier waits for a receipt. */
export class RulesEnvironment extends AcceptanceEnvironment {
  @Setting({ help: 'Milliseconds to wait for the receipt, or the confirmations, of a payment that was just made.' })
  @IsIntIn(0, 60_000)
  readonly receiptWaitMs: number = 3_000;

  @Setting({
    help: 'Payments of one client address that may wait for the chain at once; further ones get 503 and may retry.',
  })
  @IsIntIn(0)
  readonly waitingPerClient: number = 16;

  @Setting({ help: 'Payments that may wait for the chain at once; further ones get 503 and may retry.' })
  @IsIntIn(0)
  readonly waitingTotal: number = 256;

  @Setting({
    help: 'Look-ups per minute of one client address that may end in a refusal; above it, payments that need a look-up get 503. 0 sets no limit.',
  })
  @IsIntIn(0)
  readonly refusedLookupsPerMinute: number = 1_200;

  @Setting({
    help: 'Bytes per minute beyond the usual size that answers about refused payments of one client address may have; above it, payments that need a look-up get 503. 0 sets no limit.',
  })
  @IsIntIn(0)
  readonly longAnswerBytesPerMinute: number = 8_388_608;

  /** How long the ledger remembers a payment. */
  get memoryMs(): number {
    return Math.max(this.redemptionWindowSeconds, this.boundRedemptionWindowSeconds) * 1000;
  }
}
