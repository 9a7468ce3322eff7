import { bucketEventsKey, type RefundedFacts, type RefundingFacts } from '@tollgate/book-events';

import { durabilityDiffers, type LedgerRunner } from './continuity.js';
import { answerKey, birthKey, bucketOf, entryKey } from './keys.js';
import { LEDGER_SCRIPTS } from './ledger-scripts.js';
import { locatePayment, nameOfPayment, type PaymentId } from './payment-id.js';

export interface CloseRequest {
  /** As the chain shows the payment: a transfer caused by an authorization is that authorization. */
  id: PaymentId;
  /** Names the refund: 1 to 64 letters, digits or `.:_-`. */
  refund: string;
  reason: string | null;
  /** Also closes a payment that bought an answer, which is then no longer replayed. */
  allowsAnswered: boolean;
  /** False: not reported to the book, which has the money under another name. */
  isReported?: boolean;
}

export type CloseResult =
  /** `expired`: the request that held it is gone, and can no longer commit. `free`: the ledger did not know it. */
  | { outcome: 'closed'; from: RefundingFacts['from'] }
  /**
   * `by`: the refund that closed it. `sinceMs`: for the refund that asks. `paid`: the refunds that were recorded as sent.
   */
  | { outcome: 'closed_before'; sinceMs: number; by: string; paid: readonly string[] }
  /** A request holds it: ask again once it has ended. */
  | { outcome: 'leased'; retryAfterMs: number }
  /** It bought an answer. */
  | { outcome: 'answered' }
  /** The transaction was presented as a whole and this is one of its transfers, or the reverse: close the other. */
  | { outcome: 'other_form' };

/** Closes a payment for a refund: from then on it is refused as `payment_refunded`, and the mark never expires. */
export async function closePayment(
  runner: LedgerRunner,
  { id, refund, reason, allowsAnswered, isReported = true }: CloseRequest,
  { isBooked, replicas }: { isBooked: boolean; replicas: number },
): Promise<CloseResult> {
  const { entry, slot } = locatePayment(id);
  const bucket = bucketOf(entry);
  const names = [birthKey(bucket, id.chainId), entryKey(bucket, entry), answerKey(bucket, entry, slot)];
  const keys = [...names, bucketEventsKey(bucket)];
  const facts: Omit<RefundingFacts, 'from'> = { refund: assertRefund(refund), reason };
  const args = [
    slot,
    allowsAnswered ? 1 : 0,
    nameOfPayment(id),
    isBooked && isReported ? JSON.stringify(facts) : '',
    refund,
    replicas,
  ];
  const [outcome, detail, by = '', ...paid] = await runner.run(LEDGER_SCRIPTS.close, keys, args, {
    chainId: id.chainId,
    blockNumber: null,
  });
  switch (outcome) {
    case 'closed':
      return { outcome, from: detail as RefundingFacts['from'] };
    case 'leased':
      return { outcome, retryAfterMs: Number(detail) };
    case 'closed_before':
      return { outcome, sinceMs: Number(detail), by, paid };
    case 'answered':
    case 'other_form':
      return { outcome };
    case 'durability_differs':
      throw durabilityDiffers();
    default:
      throw new Error(`the ledger's script returned ${outcome}`);
  }
}

/**
 * Reports a refund as sent, once per name; false if it was reported before.
 * @param again reports it all the same, for a book that has lost it
 * @throws TypeError if it is not closed
 */
export async function recordRefunded(
  runner: LedgerRunner,
  id: PaymentId,
  facts: RefundedFacts,
  { isBooked, again }: { isBooked: boolean; again: boolean },
): Promise<boolean> {
  const { entry, slot } = locatePayment(id);
  const bucket = bucketOf(entry);
  const args = [
    slot,
    assertRefund(facts.refund),
    nameOfPayment(id),
    isBooked ? JSON.stringify(facts) : '',
    again ? 1 : 0,
  ];
  const keys = [entryKey(bucket, entry), bucketEventsKey(bucket)];
  const [outcome] = await runner.run(LEDGER_SCRIPTS.refunded, keys, args);
  if (outcome === 'open') throw new TypeError('a payment is closed before its refund is recorded');
  return outcome === 'recorded';
}

/** It names a field of the entry. */
function assertRefund(refund: string): string {
  if (!/^[\w.:-]{1,64}$/.test(refund)) throw new TypeError('a refund is named by 1 to 64 letters, digits or .:_-');
  return refund;
}
