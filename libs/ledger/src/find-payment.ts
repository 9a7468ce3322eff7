import type { Cluster, Redis } from 'ioredis';

import { bucketOf, entryKey } from './keys.js';
import { locateEntry, readPaymentId, type EntryId } from './payment-id.js';
import { readRecords } from './payment-record.js';
import type { FindRequest, FindResult } from './types.js';

/**
 * Looks for a payment this retry key has a right to, before the chain is asked. Reads only: what it cannot settle is
 * `none`, and the claim decides.
 */
export async function findPayment(redis: Redis | Cluster, request: FindRequest, nowMs: number): Promise<FindResult> {
  const entry = locateEntry(request);
  const fields = await redis.hgetall(entryKey(bucketOf(entry), entry));
  for (const [slot, record] of readRecords(fields)) {
    if (record.retryKey !== request.retryKey) continue;
    const same = record.fingerprint === request.fingerprint;
    if (record.state === 'answered' || record.state === 'done') {
      const id = readPaymentId({ entry, slot });
      return same && id ? { outcome: 'answered', id } : { outcome: 'conflict' };
    }
    if (record.state === 'leased' && record.untilMs !== null && record.untilMs >= nowMs) {
      return same ? { outcome: 'busy', retryAfterMs: record.untilMs - nowMs } : { outcome: 'conflict' };
    }
  }
  return { outcome: 'none' };
}

/** Reads only: a claim may be under way, and decides. */
export async function isSpent(redis: Redis | Cluster, id: EntryId): Promise<boolean> {
  const entry = locateEntry(id);
  const records = readRecords(await redis.hgetall(entryKey(bucketOf(entry), entry)));
  return records.some(([, { state }]) => state === 'answered' || state === 'done');
}
