import { ChainUnavailableError } from '@tollgate/chain';
import type { EmittedLog, Hex, PaymentFailure } from '@tollgate/protocol';
import type { PaymentSimulation, SettlementResult } from '@tollgate/transport';

import type { PaymentEntry } from './payment-entry.js';

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

/** The answer about a settlement that did not happen. After either outcome the payer may sign anew. */
export type UnmadeSettlement = Extract<SettlementResult, { outcome: 'failed' | 'unavailable' }>;

export interface SettlementRecord {
  /** From `nameSettlement`. */
  name: string;
  /** The question that asks for it. */
  questionId: string;
  /** How long the payment may still be asked for. */
  keptMs: number;
}

/** One attempt to settle a payment: one place in one job. */
export interface SettlementAttempt {
  payment: PaymentEntry;
  flight: Flight;
  record: SettlementRecord;
  /** On Redis's clock; after it, nothing new is sent. */
  sendBeforeMs: number;
  /** As received with the request. */
  earlierSimulation: PaymentSimulation | undefined;
  /** How many jobs were tried before. */
  retries: number;
  /** The job that ended without settling the payment; null on the first attempt. */
  endedJobId: string | null;
  /** The payment must not share its transaction. */
  isAlone: boolean;
  /** False: a signature of an account's form was not checked to be one, and the payer may have code. */
  isSignerKnown: boolean;
}

/** A relayer's transaction with enough confirmations. */
export interface MinedJob {
  outcome: 'mined';
  txHash: Hex;
  logs: readonly EmittedLog[];
  gasUsed: bigint;
}

/**
 * `over`: no transaction of the job can be mined any more. `txHash`: the mined transaction, found by the job's attempts;
 * null, like `calldata`, if only the nonce was used up. `isReverted`: it reverted as a whole. `unknown`: the journal has
 * no such job, because it was forgotten or the process that meant to submit it died. `unwatched`: the watch is closed,
 * which says nothing about the job.
 */
export type EndedJob =
  | { outcome: 'over'; txHash: Hex | null; calldata: Hex | null; isReverted: boolean }
  | { outcome: 'unknown' }
  | { outcome: 'unwatched' };

/** The result of an attempt to settle a payment. */
export type AttemptEnd =
  | { outcome: 'settled'; txHash: Hex; amountBaseUnits: string }
  /** Another job settles the payment. */
  | { outcome: 'elsewhere'; jobId: string }
  /**
   * The job is over and, as far as was seen, its transaction (shared with others if `isShared`) did not settle the
   * payment.
   */
  | { outcome: 'ended'; jobId: string; isShared: boolean; ended: EndedJob }
  /** Nothing was sent: the same question had this answer before. */
  | { outcome: 'answered'; answer: UnmadeSettlement }
  /**
   * Nothing was sent; the payment cannot share a transaction, but may still be settled alone. `mayHavePayerCode`: its
   * signature may be a contract's.
   */
  | { outcome: 'excluded'; mayHavePayerCode: boolean }
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
  isSimulated: boolean;
  /** Shared by its payments; null until the first of them sends the batch. */
  sent: Promise<SentBatch> | null;
}

export function aloneBatch(attempt: SettlementAttempt, isSimulated: boolean): Batch {
  return { attempts: [attempt], isShared: false, isSimulated, sent: null };
}

export interface SentBatch {
  jobId: string;
  /** What the job settles. */
  attempts: readonly SettlementAttempt[];
  /** Authorizations of payers without code: only the tokens' code runs in its transaction. */
  isOfAccounts: boolean;
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

/** A promise that is resolved from outside. */
export class Deferred<T> {
  resolve!: (value: T | PromiseLike<T>) => void;
  readonly promise = new Promise<T>((resolve) => (this.resolve = resolve));
}
