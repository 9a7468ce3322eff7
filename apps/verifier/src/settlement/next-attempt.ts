import type { SettlementResult } from '@tollgate/common';

import type { PaymentAsker, SettlementAttempt, AttemptEnd, Flight } from './attempt.js';
import type { SettleQuestion } from './payments/parse-settle-request.js';
import { expiryOf } from './payments/payment-entry.js';
import { readEntry } from './payments/read-entry.js';
import type { SettlementParts } from './settlement-parts.js';
import { keptMsFor } from './state/settlement-records.js';

/** The first attempt to settle a payment, or the result when it cannot be settled here. */
export async function firstAttempt(
  parts: SettlementParts,
  question: SettleQuestion,
  { name, questionId }: PaymentAsker,
  flight: Flight,
): Promise<SettlementAttempt | SettlementResult> {
  const payment = await readEntry(question, parts, { isAccount: true });
  if ('outcome' in payment) return payment;
  const expiry = expiryOf(payment);
  return {
    payment,
    flight,
    record: { name, questionId, keptMs: keptMsFor(expiry, parts) },
    sendBeforeMs: payment.kind === 'permit2' ? Infinity : Number(expiry) * 1000 - parts.leastValidityMs,
    trial: question.trial,
    retries: 0,
    endedJobId: null,
    isAlone: false,
  };
}

/** The next attempt, after one that ended without a result. The payment does not share its transaction any more. */
export async function nextAttempt(
  parts: SettlementParts,
  question: SettleQuestion,
  attempt: SettlementAttempt,
  end: AttemptEnd,
): Promise<SettlementAttempt> {
  if (end.outcome === 'excluded') {
    const payment = await readEntry(question, parts, { isAccount: !end.hasPayerCode });
    return { ...attempt, payment: 'outcome' in payment ? attempt.payment : payment, isAlone: true };
  }
  const endedJobId = 'jobId' in end ? end.jobId : attempt.endedJobId;
  return { ...attempt, retries: attempt.retries + 1, endedJobId, isAlone: true };
}
