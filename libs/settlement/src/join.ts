import type { SettlementResult } from '@tollgate/transport';
import { verificationMethods } from '@tollgate/verification';

import { type PaymentAsker, type Flight, Deferred, type UnmadeSettlement } from './attempt.js';
import { nameSettlement, settlementMethods } from './methods/registry.js';
import { failed, SETTINGS_DIFFER, type SettleQuestion } from './payment-entry.js';
import type { SettlementParts } from './settlement-parts.js';

export type Joined = {
  asker: PaymentAsker;
  /** How long the asker waits. */
  patienceMs: number;
} & (
  | { flight: Flight; isFirst: boolean }
  /** The asker's time was over before a settlement began. */
  | { flight: null; isFirst: false }
);

/**
 * Each payment is settled once at a time in this process; further askers share the result (single-flight). The result
 * instead, when the payment cannot be the one asked for.
 */
export function join(
  { chainId, flights, waitMs, nowMs }: Pick<SettlementParts, 'chainId' | 'flights' | 'waitMs' | 'nowMs'>,
  question: SettleQuestion,
): Joined | SettlementResult {
  const name = readName(question, chainId);
  if (typeof name !== 'string') return name;
  const { questionId, requestId, deadlineMs } = question;
  const asker: PaymentAsker = { name, questionId, requestId, deadlineMs };
  const patienceMs = Math.min(deadlineMs - nowMs(), waitMs);
  const wantedUntilMs = nowMs() + patienceMs;
  const known = flights.get(name);
  // It may have been asked for before, here or elsewhere, and be in progress.
  if (patienceMs <= 0) return { asker, flight: known ?? null, isFirst: false, patienceMs };
  if (known) {
    known.wantedUntilMs = Math.max(known.wantedUntilMs, wantedUntilMs);
    return { asker, flight: known, isFirst: false, patienceMs };
  }
  const result = new Deferred<SettlementResult>();
  const flight: Flight = { questionId, requestId, jobId: null, isAnswered: false, wantedUntilMs, result };
  flights.set(name, flight);
  return { asker, flight, isFirst: true, patienceMs };
}

/**
 * The name of the payment's settlement. The asker has verified the payment; this check makes sure that no gas is spent
 * on a payment that cannot be the one asked for.
 */
function readName({ terms, payment, amountBaseUnits }: SettleQuestion, chainId: number): string | SettlementResult {
  // What was signed under the token's domain is held to the chain with it.
  if (!verificationMethods.of(payment).isOfTokenDomain && terms.chainId !== chainId) return SETTINGS_DIFFER;
  const mismatch = settlementMethods.of(payment).findMismatch(payment, terms, BigInt(amountBaseUnits));
  return mismatch === null ? nameSettlement({ ...terms, chainId }, payment, amountBaseUnits) : failed(mismatch);
}

type AnswerParts = Pick<SettlementParts, 'journal' | 'records' | 'nowMs' | 'onTrouble'>;

/** Longer than a copy of a question that was taken in time can be delayed before it claims its payment. */
const ANSWER_KEPT_MS = 60_000;

/**
 * For each asker: the result, or `pending` once the asker's time is over. Null when the result repeats the
 * answer to another question; this one then has to start its own settlement.
 * @param signal aborted when this process releases the relayer
 */
export async function reply(
  parts: AnswerParts,
  { asker, flight, patienceMs }: Joined,
  signal: AbortSignal,
): Promise<SettlementResult | null> {
  const result = flight && patienceMs > 0 ? await waitWithin(flight.result.promise, patienceMs, signal) : null;
  if (flight === null || result === null) return describePending(parts.journal, flight?.jobId ?? null);
  if (flight.isAnswered) return flight.questionId === asker.questionId ? result : null;
  const isUnmade = result.outcome === 'failed' || result.outcome === 'unavailable';
  return isUnmade ? keepAnswer(parts, asker, result, flight.jobId) : result;
}

/**
 * Waits for a promise; null when the time ends first or the signal aborts. Written by hand because combined signals
 * (`AbortSignal.any`) cost more than the rest of a request.
 */
function waitWithin<T>(promise: Promise<T>, timeoutMs: number, signal: AbortSignal): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
    };
    const giveUp = (): void => {
      end();
      resolve(null);
    };
    const timer = setTimeout(giveUp, timeoutMs);
    signal.addEventListener('abort', giveUp);
    if (signal.aborted) giveUp();
    void promise.then(resolve, reject).finally(end);
  });
}

/**
 * Delivers a failure. After it the payer may sign anew, so every copy of the question must get the same answer first,
 * and no copy may have the payment settled elsewhere.
 */
async function keepAnswer(
  { journal, records, nowMs, onTrouble }: AnswerParts,
  { name, questionId, deadlineMs }: PaymentAsker,
  result: UnmadeSettlement,
  jobId: string | null,
): Promise<SettlementResult> {
  // It was refused as it stands, before anything was claimed.
  if (jobId === null && result.outcome === 'failed') return result;
  const keptMs = Math.ceil(Math.max(deadlineMs - nowMs(), 0) + ANSWER_KEPT_MS);
  try {
    const holder = await records.keepAnswer({ name, questionId, keptMs }, jobId, result);
    return holder === null ? result : await describePending(journal, holder);
  } catch (error) {
    onTrouble(error);
    return { outcome: 'pending', txHash: null };
  }
}

/**
 * The answer about an unfinished settlement: its newest transaction, or null when none is known to be sent. Third-party
 * x402 servers ask again when a transaction is named, and treat anything else as a failure.
 */
async function describePending(journal: SettlementParts['journal'], jobId: string | null): Promise<SettlementResult> {
  const job = jobId === null ? null : await journal.readJob(jobId).catch(() => null);
  return { outcome: 'pending', txHash: job?.steps[0]?.attempts.at(-1)?.hash ?? null };
}
