import { ChainUnavailableError } from '@tollgate/chain';
import type { PaymentTrial, SettlementResult } from '@tollgate/common';
import type { Hex, PaymentFailure } from '@tollgate/protocol';

import { type SettleQuestion, type PaymentEntry, readEntry, type EntryTerms } from '../payments/payment-entry.js';
import type { Deferred } from '../state/deferred.js';
import type { EndedJob, MinedJob } from '../state/job-watch.js';
import { LONGEST_VALIDITY_MS, type SettlementRecord, type UnmadeSettlement } from '../state/settlement-records.js';

/** A payment whose settlement is in progress in this process. */
export interface Flight {
  /** The question that began it, and the request that it was asked for. */
  readonly questionId: string;
  readonly requestId: string;
  /** The job that settles it, as far as known; null before there is one. */
  jobId: string | null;
  /**
   * Nothing was sent: the question that began this settlement had been answered before, by some process, and the result
   * repeats that answer.
   */
  isAnswered: boolean;
  /** On Redis's clock. Later, no asker waits and no job is started: the payer may have been asked to sign anew. */
  wantedUntilMs: number;
  readonly result: Deferred<SettlementResult>;
}

/** A question about the payment of that name. */
export interface PaymentAsker {
  name: string;
  questionId: string;
  requestId: string;
  deadlineMs: number;
}

/** One attempt to settle a payment: one place in one job. */
export interface SettlementAttempt {
  payment: PaymentEntry;
  flight: Flight;
  record: SettlementRecord;
  /** On Redis's clock; after it, nothing new is sent. */
  sendBeforeMs: number;
  /** As received with the request. */
  trial: PaymentTrial | undefined;
  /** How many jobs were tried before. */
  retries: number;
  /** The job that ended without settling the payment; null on the first attempt. */
  endedJobId: string | null;
  /** The payment must not share its transaction. */
  isAlone: boolean;
}

/** The result of an attempt to settle a payment. */
export type AttemptEnd =
  | { outcome: 'settled'; txHash: Hex; amountBaseUnits: string }
  /** Another job settles the payment. */
  | { outcome: 'elsewhere'; jobId: string }
  /**
   * The job is over and, as far as was seen, its transaction (shared with others if `isShared`) did not settle the
   * payment.
   */
  | { outcome: 'ended'; jobId: string; isShared: boolean; news: EndedJob }
  /** Nothing was sent: the same question had this answer before. */
  | { outcome: 'answered'; answer: UnmadeSettlement }
  /** Nothing was sent; the payment cannot share a transaction, but may still be settled alone. */
  | { outcome: 'excluded'; hasPayerCode: boolean }
  /** Nothing was sent: it would fail, or payments of this payer have failed before. */
  | { outcome: 'refused'; failure: PaymentFailure }
  /** Nothing was sent. */
  | { outcome: 'unavailable'; reason: string };

/** How attempts of one batch ended before anything was sent; the others go on. */
export type EarlyEnds = Map<SettlementAttempt, AttemptEnd>;

/** What attempts depend on beside the question, the same for all payments. */
export interface AttemptTerms extends EntryTerms {
  /** How long a payment may be redeemed after its block. */
  windowMs: number;
  /** An authorization that expires sooner than this is no longer sent. */
  leastValidityMs: number;
  /** Returns the time of Redis's clock. */
  nowMs: () => number;
}

/** Attempts that are simulated and sent together. */
export interface Batch {
  attempts: readonly SettlementAttempt[];
  /** One transaction in which only the tokens' code runs, even with one payment; otherwise one payment's own. */
  isShared: boolean;
  /** The simulations that came with the requests still hold. */
  isTried: boolean;
  /** Shared by its payments; null until the first of them sends the batch. */
  sent: Promise<SentBatch> | null;
}

export function aloneBatch(attempt: SettlementAttempt, isTried: boolean): Batch {
  return { attempts: [attempt], isShared: false, isTried, sent: null };
}

export interface SentBatch {
  jobId: string;
  /** What the job settles. */
  attempts: readonly SettlementAttempt[];
  ends: EarlyEnds;
  /** Resolves when the job is mined or over. */
  mined: Promise<MinedJob | EndedJob>;
  /** The amounts that its transaction has moved, once it is mined. */
  paid: ReadonlyMap<SettlementAttempt, string> | null;
}

/** The end of an attempt for which the chain or Redis did not answer, and nothing was sent. */
export function unavailableBy(error: unknown): AttemptEnd {
  return {
    outcome: 'unavailable',
    reason: error instanceof ChainUnavailableError ? error.reason : 'redis_unavailable',
  };
}

/** The first attempt to settle a payment, or the result when it cannot be settled here. */
export async function firstAttempt(
  terms: AttemptTerms,
  question: SettleQuestion,
  { name, questionId }: PaymentAsker,
  flight: Flight,
): Promise<SettlementAttempt | SettlementResult> {
  const payment = readEntry(question, terms, { isAccount: true });
  if ('outcome' in payment) return payment;
  const isPermit = payment.kind === 'permit2';
  const validUntil = isPermit ? payment.payment.permit2Authorization.deadline : payment.authorization.validBefore;
  const expiresAtMs = Number(validUntil) * 1000;
  const validMs = Math.min(Math.max(expiresAtMs - terms.nowMs(), 0), LONGEST_VALIDITY_MS);
  return {
    payment,
    flight,
    // Kept until the payment expires, and then while it may be redeemed.
    record: { name, questionId, keptMs: Math.ceil(validMs + terms.windowMs) },
    sendBeforeMs: isPermit ? Infinity : expiresAtMs - terms.leastValidityMs,
    trial: question.trial,
    retries: 0,
    endedJobId: null,
    isAlone: false,
  };
}

/** The next attempt, after one that ended without a result. The payment does not share its transaction any more. */
export async function nextAttempt(
  terms: AttemptTerms,
  question: SettleQuestion,
  attempt: SettlementAttempt,
  end: AttemptEnd,
): Promise<SettlementAttempt> {
  if (end.outcome === 'excluded') {
    const payment = readEntry(question, terms, { isAccount: !end.hasPayerCode });
    return { ...attempt, payment: 'outcome' in payment ? attempt.payment : payment, isAlone: true };
  }
  const endedJobId = 'jobId' in end ? end.jobId : attempt.endedJobId;
  return { ...attempt, retries: attempt.retries + 1, endedJobId, isAlone: true };
}
