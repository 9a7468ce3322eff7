import type { Durability } from '@tollgate/redis';
import type { Cluster, Redis } from 'ioredis';

export interface LedgerOptions {
  redis: Redis | Cluster;
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
