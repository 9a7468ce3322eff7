import { BOOK_GROUP, bucketEventsKey, REFUSED_EVENTS } from '@tollgate/book-events';
import { StoreError, trimAcknowledged } from '@tollgate/redis';
import type { Cluster, Redis } from 'ioredis';

import { birthKey, BUCKETS } from './keys.js';

/** How many events the ledger's part of the outbox has. */
export interface OutboxLength {
  /** Events of payments, over all buckets. */
  payments: number;
  /** Events of refused payments. */
  refused: number;
}

/** The outbox has reached its limit of events: new payments are taken again once the bookkeeper has read some. */
export class OutboxFullError extends StoreError {
  override readonly name = 'OutboxFullError';

  constructor() {
    super(
      'outbox_full',
      'The outbox of the book has reached its limit (BOOK_OUTBOX_LIMIT).',
      'Start the bookkeeper, which empties it, or raise BOOK_OUTBOX_LIMIT if Redis has the memory.',
    );
  }
}

/** Trims what the bookkeeper has acknowledged. */
export async function trimOutbox(redis: Redis | Cluster): Promise<OutboxLength> {
  const trim = (stream: string): Promise<number> => trimAcknowledged(redis, stream, BOOK_GROUP);
  const buckets = Array.from({ length: BUCKETS }, (_, bucket) => trim(bucketEventsKey(bucket)));
  const [refused, ...payments] = await Promise.all([trim(REFUSED_EVENTS), ...buckets]);
  return { payments: payments.reduce((sum, length) => sum + length, 0), refused };
}

/**
 * Since when every payment is reported to the book, in milliseconds of Redis's clock: the latest time of all buckets and chains.
 * Null while `BOOK` is off, or on a Redis that no process has used yet.
 */
export async function readBookedSinceMs(redis: Redis | Cluster, chainIds: readonly number[]): Promise<number | null> {
  const times = await Promise.all(birthsOf(chainIds).map((birth) => redis.hget(birth, 'booked')));
  return times.every((time) => time !== null && /^\d{1,15}$/.test(time)) ? Math.max(...times.map(Number)) : null;
}

/** Whether a process with `BOOK=off` has used the ledger: what is sold since is not reported. */
export async function isBookOff(redis: Redis | Cluster, chainIds: readonly number[]): Promise<boolean> {
  const births = await Promise.all(birthsOf(chainIds).map((birth) => redis.hmget(birth, 'epoch', 'booked')));
  return births.some(([epoch, booked]) => epoch !== null && booked === null);
}

function birthsOf(chainIds: readonly number[]): string[] {
  return chainIds.flatMap((chainId) => Array.from({ length: BUCKETS }, (_, bucket) => birthKey(bucket, chainId)));
}
