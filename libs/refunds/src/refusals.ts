import { formatTokenAmount } from '@tollgate/protocol';

import type { RefundSettings } from './ports.js';
import type { Refund, RefundCaps, RefundTerms } from './refund.js';

type RefusalCode = 'book_payment_not_found' | 'refund_differs' | 'refund_not_found' | 'refund_refused';

/** A request of an operator that is not done. Nothing was changed by it. */
export class RefundRefusedError extends Error {
  override readonly name = 'RefundRefusedError';

  /** @param members facts for programs */
  constructor(
    readonly code: RefusalCode,
    detail: string,
    readonly members: Readonly<Record<string, unknown>> = {},
  ) {
    super(detail);
  }
}

const CAPS: Readonly<Record<keyof RefundCaps, string>> = {
  each: 'one refund may pay back (REFUND_MOST)',
  perPayerAndDay: 'a payer may be refunded in a day (REFUND_MOST_PER_PAYER)',
  perKeyAndDay: 'an API key may have refunded in a day (REFUND_MOST_PER_KEY)',
  perDay: 'may be refunded in a day (REFUND_MOST_PER_DAY)',
};

export function refuse(reason: string, detail: string, members: object = {}): RefundRefusedError {
  return new RefundRefusedError('refund_refused', detail, { reason, ...members });
}

export function overCap(cap: keyof RefundCaps, units: bigint, settings: RefundSettings): RefundRefusedError {
  const left = show(units, settings);
  return refuse('over_cap', `Only ${left.shown} is left of what ${CAPS[cap]}.`, { cap, left: left.units });
}

export function exceeds(units: bigint, settings: RefundSettings): RefundRefusedError {
  const left = show(units, settings);
  return refuse('exceeds', `Only ${left.shown} is left of what arrived.`, { left: left.units });
}

/** Of a transaction that a person has named. */
export function tooMuch(amount: bigint, settings: RefundSettings): RefundRefusedError {
  const advice = 'Give up those that have failed, if there are any, and name it again.';
  const { shown } = show(amount, settings);
  return refuse('exceeds', `It paid ${shown}, and the other refunds of the payment leave less. ${advice}`);
}

/** A doubt, where the refunds of a payment are so much in all that another key has to approve. */
export function findLargeDoubt(sum: bigint, settings: RefundSettings): string[] {
  const { approvalAbove } = settings;
  if (approvalAbove === null || sum <= approvalAbove) return [];
  const { shown } = show(approvalAbove, settings);
  return [`The refunds of this payment are more than ${shown} in all (REFUND_APPROVAL_ABOVE).`];
}

export function paymentNotFound(): RefundRefusedError {
  const detail = 'The book has no such payment, or has booked nothing for it.';
  return new RefundRefusedError('book_payment_not_found', detail);
}

/** A refund that exists already, if it was asked for in these terms: with what it was asked for, or was paid with. */
export function assertTerms(known: Refund, { amount, answered }: Pick<RefundTerms, 'amount' | 'answered'>): Refund {
  if (known.answered === answered && [known.amount, known.askedAmount].includes(amount)) return known;
  const detail = `Refund ${known.number} of this payment was asked for with other terms. Repeat those, or take the next number.`;
  throw new RefundRefusedError('refund_differs', detail, { refund: known });
}

/** @param before the refund as the request has read it */
export function notFailed(
  before: Refund,
  { state, attempt }: Refund,
  decision: 'retried' | 'given up' | 'booked so',
): RefundRefusedError {
  const which = decision === 'booked so' ? 'has failed or was given up' : 'has failed';
  const detail =
    attempt === before.attempt
      ? `Only a refund that ${which} can be ${decision}.`
      : 'Somebody else has retried it just now.';
  return refuse('state', `The refund is ${state}. ${detail}`, { state });
}

function show(amount: bigint, { decimals }: RefundSettings): { shown: string; units: string } {
  const units = amount > 0n ? amount : 0n;
  return { shown: formatTokenAmount(units, decimals), units: String(units) };
}
