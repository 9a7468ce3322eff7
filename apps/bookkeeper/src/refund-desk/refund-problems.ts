import type { AskResult, OverCap, Refund, RefundCaps } from '@tollgate/book';
import { ProblemError } from '@tollgate/common';
import { formatTokenAmount } from '@tollgate/protocol';

import type { RefundPreview } from '../refunds/refund-previews.js';

// Why the desk refuses a request, as its caller reads it.

const CAPS: Readonly<Record<keyof RefundCaps, string>> = {
  each: 'one refund may pay back (REFUND_MOST)',
  perPayerAndDay: 'a payer may be refunded in a day (REFUND_MOST_PER_PAYER)',
  perKeyAndDay: 'an API key may have refunded in a day (REFUND_MOST_PER_KEY)',
  perDay: 'may be refunded in a day (REFUND_MOST_PER_DAY)',
};

/** From which sum of a payment's refunds on another key has to approve. */
export function describeLarge({ approvalAbove, decimals }: RefundPreview): { above: bigint; doubt: string } | null {
  if (approvalAbove === null) return null;
  const above = BigInt(approvalAbove);
  const most = formatTokenAmount(above, decimals);
  return { above, doubt: `The refunds of this payment are more than ${most} in all (REFUND_APPROVAL_ABOVE).` };
}

/** @throws ProblemError where it was not asked for */
export function readAsked(asked: AskResult, { decimals }: RefundPreview): Refund {
  const show = (amount: bigint): string => formatTokenAmount(amount, decimals);
  switch (asked.outcome) {
    case 'asked':
    case 'known':
      return asked.refund;
    case 'differs':
      throw differs(asked.refund);
    case 'not_next':
      throw refuse('number', `The next refund of this payment has the number ${asked.next}.`, { next: asked.next });
    case 'exceeds': {
      const left = String(asked.left);
      throw refuse('exceeds', `Only ${show(asked.left)} is left of what arrived.`, { left });
    }
    case 'over_cap':
      throw overCap(asked, decimals);
  }
}

export function overCap({ cap, left }: OverCap, decimals: number): ProblemError {
  const detail = `Only ${formatTokenAmount(left, decimals)} is left of what ${CAPS[cap]}.`;
  return refuse('over_cap', detail, { cap, left: String(left) });
}

export function paymentNotFound(): ProblemError {
  const detail = 'The book has no such payment, or has booked nothing for it.';
  return new ProblemError({ status: 404, code: 'book_payment_not_found', detail });
}

export function describeTooMuch(amount: bigint, decimals: number): string {
  return `It paid ${formatTokenAmount(amount, decimals)}, and the other refunds of the payment leave less. Give up those that have failed, if there are any, and name it again.`;
}

export function differs(refund: Refund): ProblemError {
  const detail = `Refund ${refund.number} of this payment was asked for with other terms. Repeat those, or take the next number.`;
  return new ProblemError({ status: 409, code: 'refund_differs', detail, members: { refund } });
}

/** @param before the refund as the request has read it */
export function notFailed(
  before: Refund,
  { state, attempt }: Refund,
  decision: 'retried' | 'given up' | 'booked so',
): ProblemError {
  const isRetried = attempt !== before.attempt;
  const which = decision === 'booked so' ? 'has failed or was given up' : 'has failed';
  const detail = isRetried
    ? 'Somebody else has retried it just now.'
    : `Only a refund that ${which} can be ${decision}.`;
  return refuse('state', `The refund is ${state}. ${detail}`, { state });
}

export function refuse(reason: string, detail: string, members: Record<string, unknown> = {}): ProblemError {
  return new ProblemError({ status: 409, code: 'refund_refused', detail, members: { reason, ...members } });
}
