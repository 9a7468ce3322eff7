import type { SettlementResult } from '@tollgate/common';
import { createJobId, createLaneId } from '@tollgate/journal';

import {
  firstAttempt,
  nextAttempt,
  type AttemptEnd,
  type Batch,
  type Flight,
  type PaymentAsker,
  type SentBatch,
  type SettlementAttempt,
} from './attempts/attempt.js';
import { batch, claim } from './batch.js';
import { conclude } from './conclude.js';
import { confirm } from './confirm.js';
import { join, reply } from './join.js';
import { type SettleQuestion, readName } from './payments/payment-entry.js';
import type { Relayer } from './relayers/relayer.js';
import { reserve } from './reserve.js';
import type { SettlementParts } from './settlement-parts.js';
import { simulate } from './simulate.js';
import { SUBMITTED_WITHIN_MS } from './state/job-watch.js';
import { submit, type NamedJob } from './submit.js';

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
  const name = readName(question, parts.chainId);
  if (typeof name !== 'string') return name;
  const { questionId, requestId, deadlineMs } = question;
  const asker: PaymentAsker = { name, questionId, requestId, deadlineMs };
  for (;;) {
    const joined = join(parts, asker);
    if (joined.isFirst) {
      const settling = settlePayment(parts, relayer, question, asker, joined.flight);
      joined.flight.result.resolve(settling.finally(() => parts.flights.delete(name)));
    }
    const result = await reply(parts, asker, joined, signal);
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
  const first = await firstAttempt(parts, question, asker, flight);
  if ('outcome' in first) return first;
  for (let attempt = first; ;) {
    const end = await makeAttempt(parts, relayer, attempt);
    const result = await conclude(parts, attempt, end);
    if (result !== null) return result;
    attempt = await nextAttempt(parts, question, attempt, end);
  }
}

/** One attempt: reserves the payer's balance and a place in a batch, and goes with the batch until it has ended. */
async function makeAttempt(parts: SettlementParts, relayer: Relayer, attempt: SettlementAttempt): Promise<AttemptEnd> {
  const reserved = await reserve(parts, relayer, attempt);
  if ('outcome' in reserved) return reserved;
  const { turn, batch: gathered } = reserved;
  try {
    // The first of its payments sends the batch for all of them.
    gathered.sent ??= sendBatch(parts, relayer, gathered).finally(() => relayer.batcher.release(gathered));
    const sent = await gathered.sent;
    return sent.ends.get(attempt) ?? (await confirm(parts, sent, attempt));
  } finally {
    relayer.batcher.leave();
    turn.end();
  }
}

/** Puts a batch into one job of the relayer. Payments that are simulated together are also sent together. */
async function sendBatch(parts: SettlementParts, relayer: Relayer, gathered: Batch): Promise<SentBatch> {
  const [first] = gathered.attempts;
  const permit = first?.payment.kind === 'permit2' ? first.payment.payment : null;
  // Only the account that the payer signed can send it, whichever process works on that account.
  const lane =
    permit?.scheme === 'upto'
      ? createLaneId(parts.chainId, permit.permit2Authorization.witness.facilitator)
      : relayer.lane;
  const job: NamedJob = { lane, jobId: createJobId(lane), latestMs: parts.nowMs() + SUBMITTED_WITHIN_MS };
  // Both at once: a payment that turns out to be settled by another job was simulated in vain.
  const [claimed, simulated] = await Promise.all([
    claim(parts, relayer, gathered, job.jobId),
    simulate(parts, relayer, gathered),
  ]);
  const ready = await batch(parts, relayer, gathered, job.jobId, claimed, simulated);
  return submit(parts, relayer, job, ready);
}
