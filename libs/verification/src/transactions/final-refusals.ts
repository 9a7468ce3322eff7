import { ShortMemory, type Sighting } from '@tollgate/chain';
import type { Hex, PaymentFailure } from '@tollgate/protocol';

import { PaymentRefused } from '../refusals/payment-refused.js';
import { isConfirmed } from './transaction-rules.js';

export interface FinalRefusalsOptions {
  confirmations: number;
  nowMs: () => number;
}

const REMEMBERED_MS = 60_000;
const MAX_REMEMBERED = 4096;

/** Failures decided by the receipt alone, for every client, resource and price. They are not recorded for refunds. */
const FINAL: ReadonlySet<PaymentFailure> = new Set(['transaction_failed', 'transfer_missing', 'belongs_to_permit']);

/**
 * Confirmed transactions that can never be a payment: refused without another look at the chain. Kept for a minute,
 * since even a confirmed block may be replaced.
 */
export class FinalRefusals {
  readonly counts = { refused_again: 0 };
  readonly #known: ShortMemory<PaymentFailure>;

  constructor(private readonly options: FinalRefusalsOptions) {
    const { nowMs } = options;
    this.#known = new ShortMemory({ rememberedMs: REMEMBERED_MS, maxRemembered: MAX_REMEMBERED, nowMs });
  }

  /** Repeats an earlier refusal. */
  assertNone(txHash: Hex): void {
    const known = this.#known.find(txHash);
    if (known === null) return;
    this.counts.refused_again++;
    throw new PaymentRefused(known.value);
  }

  /** Remembers a transaction's failure if it is final. */
  remember({ mined, headBlockNumber }: Sighting, error: unknown): void {
    if (!(error instanceof PaymentRefused) || !FINAL.has(error.failure) || mined === null) return;
    const { txHash, blockNumber } = mined.receipt;
    if (isConfirmed(blockNumber, headBlockNumber, this.options.confirmations)) this.#known.keep(txHash, error.failure);
  }

  /** A receipt's length is the same in every block. */
  rememberTooLarge(txHash: Hex): PaymentRefused {
    this.#known.keep(txHash, 'receipt_too_large');
    return new PaymentRefused('receipt_too_large');
  }
}
