import { ChainUnavailableError } from '@tollgate/chain';
import type { PaymentTrial, SettlementResult } from '@tollgate/common';
import type { Hex, PaymentFailure } from '@tollgate/protocol';

import type { PaymentEntry } from './payments/payment-entry.js';
import type { Deferred } from './state/deferred.js';
import type { EndedJob, MinedJob } from './state/job-watch.js';
import type { SettlementRecord, UnmadeSettlement } from './state/settlement-records.js';

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
