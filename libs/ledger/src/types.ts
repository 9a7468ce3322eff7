import type { AnsweredFacts } from '@tollgate/book-events';
import type { Hex, PaymentFailure } from '@tollgate/protocol';
import type { Durability } from '@tollgate/redis';
import type { Cluster, Redis } from 'ioredis';

import type { EntryId, PaymentId } from './payment-id.js';

export interface LedgerOptions {
  redis: Redis | Cluster;
  /** The chains whose payments are claimed, spent and reported by this process. */
  chainIds: readonly number[];
  /** Redis memory for stored answers, over all buckets. Default 512 MiB. */
  answerStoreBytes?: number;
  /** The longest time an answer is kept, limited by its payment's entry. Default 24 hours. */
  answerRetentionMs?: number;
  /**
   * The shortest time entries live. Pass the largest redemption window in use: increasing it later refuses payments.
   */
  retentionMs?: number;
  /** How many refused payments are kept for refunds; the oldest are dropped. Default 100,000. */
  refusalsKept?: number;
  /** How long an operation waits for Redis. Default 3 seconds. */
  timeoutMs?: number;
  /** Without it a write counts once the server has answered. */
  durability?: Durability | null;
  /** Reports every change of money to the book. */
  book?: BookOptions | null;
}

export interface BookOptions {
  /** How many events the outbox may have for a new payment to be taken, all buckets together. */
  outboxLimit: number;
}

/**
 * A payment that a transaction offers. `windowMs`: how long after its block it may be redeemed; null: no age rule. An
 * unsent signed payment can be mined in the next block at the earliest: head + 1, now.
 */
export interface PaymentCandidate {
  id: PaymentId;
  blockNumber: number;
  minedAtMs: number;
  windowMs: number | null;
}

/** The right to answer for a payment until `untilMs` (Redis's clock). `generation` grows with every new holder. */
export interface Lease {
  id: PaymentId;
  owner: string;
  generation: number;
  untilMs: number;
}

export interface ClaimRequest {
  /** All payments of one transaction that satisfy the rules, in the order in which to spend them. */
  candidates: readonly PaymentCandidate[];
  owner: string;
  fingerprint: string;
  retryKey: string | null;
  /** False: the retry key finds the answer, and until there is one any request may claim the payment once it is free. */
  keyReserves?: boolean;
  leaseMs: number;
  /** On Redis's clock: a claim that arrives later changes nothing. */
  deadlineMs: number;
  /** At least the block number of every mined candidate. */
  headBlockNumber: number;
}

export type ClaimRefusal = 'payment_too_old' | 'older_than_ledger' | 'released_too_often' | 'payment_refunded';

export type ClaimResult =
  | { outcome: 'claimed'; lease: Lease }
  | { outcome: 'answered'; id: PaymentId }
  | { outcome: 'busy'; retryAfterMs: number }
  /** What it pays for was busy, and is not to be asked before then. */
  | { outcome: 'paused'; retryAfterMs: number }
  | { outcome: 'conflict' }
  | { outcome: 'used' }
  | { outcome: 'refused'; failure: ClaimRefusal; id: PaymentId }
  | { outcome: 'late' };

export type FindRequest = EntryId & {
  fingerprint: string;
  retryKey: string;
};

export type FindResult =
  | { outcome: 'none' }
  | { outcome: 'answered'; id: PaymentId }
  | { outcome: 'busy'; retryAfterMs: number }
  | { outcome: 'paused'; retryAfterMs: number }
  | { outcome: 'conflict' }
  | { outcome: 'refused'; failure: 'payment_refunded' };

export interface StoredAnswer {
  status: number;
  headers: [string, string][];
  body: Buffer;
}

export type ReproductionCount = { outcome: 'counted' | 'exhausted' } | { outcome: 'paused'; retryAfterMs: number };

export interface CommitTerms {
  /** Returned by `readReceipt` if the answer is not kept; values up to 64 bytes take the least memory. */
  receipt?: string;
  /** For the book; without them it is no longer complete. */
  facts?: AnsweredFacts | null;
  /**
   * How long it asks again while Redis does not reply: the payment may be spent, and a payer without a retry key would
   * be refused its answer for good. After that time Redis no longer spends it; 0: no deadline.
   */
  repeatForMs?: number;
}

/** A payment that was made and could not be accepted, with the facts an operator needs for a refund. */
export interface Refusal {
  id: PaymentId;
  failure: PaymentFailure;
  payer?: Hex;
  /** The token of the amount, in lower case. */
  asset?: string;
  /** The account that the amount was paid to, in lower case. */
  payTo?: Hex;
  amountBaseUnits?: bigint;
  minedAtMs?: number;
  detail?: string;
}
