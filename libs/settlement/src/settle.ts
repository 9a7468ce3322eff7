import { chainMethods } from '@tollgate/chain';
import { createJobId, createLaneId } from '@tollgate/journal';
import { payerOf, validityOf } from '@tollgate/protocol';
import type { SettlementResult } from '@tollgate/transport';

import type { AttemptEnd, Batch, Flight, PaymentAsker, SentBatch, SettlementAttempt } from './attempt.js';
import { batch, LONGEST_VALIDITY_MS } from './batch.js';
import { conclude } from './conclude.js';
import { confirm, SUBMITTED_WITHIN_MS } from './confirm.js';
import { join, reply } from './join.js';
import { settlementMethods } from './methods/registry.js';
import type { SettleQuestion, PaymentEntry } from './payment-entry.js';
import { reserve } from './reserve.js';
import type { SettlementParts } from './settlement-parts.js';
import { simulate } from './simulate.js';
import { submit, type NamedJob, type Relayer } from './submit.js';

/**
 * Answers a question to settle a signed payment. Each payment is settled once, however often and wherever it is asked
 * for. Never throws because of payers, the chain or Redis.
 * @param signal aborted when this process releases the relayer
 */
export async function settle(
  parts: SettlementParts,
  relayer: Relayer,
  question: SettleQuestion,
  signal: AbortSignal,
): Promise<SettlementResult> {
  for (;;) {
    const joined = join(parts, question);
    if ('outcome' in joined) return joined;
    if (joined.isFirst) {
      const { asker, flight } = joined;
      const settling = settlePayment(parts, relayer, question, asker, flight);
      flight.result.resolve(settling.finally(() => parts.flights.delete(asker.name)));
    }
    const result = await reply(parts, joined, signal);
    if (result !== null) return result;
  }
}

/** Settles one payment, in as many attempts as it takes. */
async function settlePayment(
  parts: SettlementParts,
  relayer: Relayer,
  question: SettleQuestion,
  asker: PaymentAsker,
  flight: Flight,
): Promise<SettlementResult> {
  const first = firstAttempt(parts, question, asker, flight);
  if ('outcome' in first) return first;
  for (let attempt = first; ;) {
    const end = await makeAttempt(parts, relayer, attempt);
    const result = await conclude(parts, attempt, end);
    if (result !== null) return result;
    attempt = nextAttempt(parts, question, attempt, end);
  }
}

/** The first attempt to settle a payment, or the result when it cannot be settled here. */
function firstAttempt(
  parts: SettlementParts,
  question: SettleQuestion,
  { name, questionId }: PaymentAsker,
  flight: Flight,
): SettlementAttempt | SettlementResult {
  const payment = readEntry(question, parts, { isAccount: true });
  if ('outcome' in payment) return payment;
  const expiresAtMs = Number(validityOf(question.payment).validBefore) * 1000;
  const { isSimulatedBySender } = settlementMethods.of(question.payment);
  const validMs = Math.min(Math.max(expiresAtMs - parts.nowMs(), 0), LONGEST_VALIDITY_MS);
  return {
    payment,
    flight,
    // Kept until the payment expires, and then while it may be redeemed.
    record: { name, questionId, keptMs: Math.ceil(validMs + parts.windowMs) },
    sendBeforeMs: isSimulatedBySender ? Infinity : expiresAtMs - parts.leastValidityMs,
    earlierSimulation: question.simulation,
    retries: 0,
    endedJobId: null,
    isAlone: false,
    isSignerKnown: false,
  };
}

/** The next attempt, after one that ended without a result. The payment does not share its transaction any more. */
function nextAttempt(
  parts: SettlementParts,
  question: SettleQuestion,
  attempt: SettlementAttempt,
  end: AttemptEnd,
): SettlementAttempt {
  if (end.outcome === 'excluded') {
    const payment = readEntry(question, parts, { isAccount: !end.mayHavePayerCode });
    const known = 'outcome' in payment ? attempt.payment : payment;
    return { ...attempt, payment: known, isAlone: true, isSignerKnown: true };
  }
  const endedJobId = 'jobId' in end ? end.jobId : attempt.endedJobId;
  return { ...attempt, retries: attempt.retries + 1, endedJobId, isAlone: true };
}

/** One attempt: reserves the payer's balance and a place in a batch, and goes with the batch until it has ended. */
async function makeAttempt(parts: SettlementParts, relayer: Relayer, attempt: SettlementAttempt): Promise<AttemptEnd> {
  const reserved = await reserve(parts, relayer, attempt);
  if ('outcome' in reserved) return reserved;
  const gathered = reserved.batch;
  try {
    // The first of its payments sends the batch for all of them.
    gathered.sent ??= sendBatch(parts, relayer, gathered).finally(() => relayer.batcher.release(gathered));
    const sent = await gathered.sent;
    return sent.ends.get(attempt) ?? (await confirm(parts, sent, attempt));
  } finally {
    reserved.end();
  }
}

/** Puts a batch into one job of the relayer. Payments that are simulated together are also sent together. */
async function sendBatch(parts: SettlementParts, relayer: Relayer, gathered: Batch): Promise<SentBatch> {
  const [first] = gathered.attempts;
  const payment = first?.payment.payment;
  // Where the payer names an account, only that can send it, whichever process works on that account.
  const sender = payment ? chainMethods.of(payment).senderOf(payment) : null;
  const lane = sender === null ? relayer.lane : createLaneId(parts.chainId, sender);
  const job: NamedJob = { lane, jobId: createJobId(lane), latestMs: parts.nowMs() + SUBMITTED_WITHIN_MS };
  // Not awaited here: the batch is recorded meanwhile. A payment that another job settles was simulated in vain.
  const simulating = simulate(parts, relayer, gathered);
  const ready = await batch(parts, relayer, gathered, job.jobId, simulating);
  return submit(parts, relayer, job, ready);
}

/** The payment in the form in which it is settled, or the result when it cannot be. `isAccount`: see the method. */
function readEntry(
  question: SettleQuestion,
  parts: SettlementParts,
  signer: { isAccount: boolean },
): PaymentEntry | SettlementResult {
  const { asset, payTo } = question.terms;
  const payment = settlementMethods.of(question.payment).readPayment(question, parts, signer);
  if ('outcome' in payment) return payment;
  const isOwn = parts.refunds.terms.isOwn({ asset, payTo });
  const seller = { payTo, ...(!isOwn && { forOther: true as const }) };
  const { amountBaseUnits } = question;
  return { asset, ...seller, payer: payerOf(payment), amountBaseUnits, payment };
}
