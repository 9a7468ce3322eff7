import type { AcknowledgedCommands } from '@tollgate/redis';
import type { Cluster, Redis } from 'ioredis';

import { CLOCK_SKEW_MS } from './continuity.js';
import { birthKey, bucketOf, entryKey } from './keys.js';
import { locateEntry, locatePayment, readPaymentId, type EntryId, type PaymentId } from './payment-id.js';
import { readRecords, type PaymentRecord } from './payment-record.js';
import type { FindRequest, FindResult } from './types.js';

/** Where entries are read, and where replicas must have what is read; undefined if none must. */
export interface EntryServers {
  redis: Redis | Cluster;
  acknowledged: AcknowledgedCommands | undefined;
}

/**
 * Looks for a payment that belongs to this retry key, before the chain is asked. Reads only: `none` also means
 * undecided, and the claim decides. Where replicas must acknowledge, it is read a second time if there is one: a primary
 * that has been replaced may hold what its successor never had.
 */
export async function findPayment(servers: EntryServers, request: FindRequest, nowMs: number): Promise<FindResult> {
  const entry = locateEntry(request);
  const key = entryKey(bucketOf(entry), entry);
  const found = readFound(await servers.redis.hgetall(key), { entry, request, nowMs });
  if (found.outcome === 'none' || servers.acknowledged === undefined) return found;
  return readFound(await readFields(servers, key), { entry, request, nowMs });
}

function readFound(
  fields: Record<string, string>,
  { entry, request, nowMs }: { entry: string; request: FindRequest; nowMs: number },
): FindResult {
  for (const [slot, record] of readRecords(fields)) {
    if (record.retryKey !== request.retryKey) continue;
    if (record.state === 'refunding') return { outcome: 'refused', failure: 'payment_refunded' };
    const same = record.fingerprint === request.fingerprint;
    if (record.state === 'answered' || record.state === 'done') {
      const id = readPaymentId({ entry, slot });
      return same && id ? { outcome: 'answered', id } : { outcome: 'conflict' };
    }
    if (record.untilMs === null || record.untilMs < nowMs) continue;
    const retryAfterMs = record.untilMs - nowMs;
    if (record.state === 'leased') return same ? { outcome: 'busy', retryAfterMs } : { outcome: 'conflict' };
    if (same) return { outcome: 'paused', retryAfterMs };
  }
  return { outcome: 'none' };
}

/** Why the payment buys nothing any more; null if it may. Reads only: a claim in progress may still change that. */
export async function whySpent(
  servers: EntryServers,
  id: EntryId,
): Promise<'payment_used' | 'payment_refunded' | null> {
  const states = (await readEntry(servers, id)).map(({ state }) => state);
  if (states.includes('refunding')) return 'payment_refunded';
  return states.includes('answered') || states.includes('done') ? 'payment_used' : null;
}

/** Whether a payment is closed for a refund, whatever else its transaction paid for. Reads only. */
export async function isClosed(servers: EntryServers, id: PaymentId): Promise<boolean> {
  const { entry, slot } = locatePayment(id);
  const records = readRecords(await readFields(servers, entryKey(bucketOf(entry), entry)));
  return records.some(([at, { state }]) => at === slot && state === 'refunding');
}

/** Whether a request holds the payment and may still have it moved. Reads only. */
export async function isLeased(servers: EntryServers, id: EntryId, nowMs: number): Promise<boolean> {
  const records = await readEntry(servers, id);
  return records.some(({ state, untilMs }) => state === 'leased' && untilMs !== null && untilMs >= nowMs);
}

/**
 * Whether a request has held the payment or its whole transaction. `forgotten`: none is known, but the payment was mined
 * before the ledger's data begins. Reads only.
 */
export async function recallPayment(
  servers: EntryServers,
  { id, minedAtMs }: { id: PaymentId; minedAtMs: number },
): Promise<'known' | 'unknown' | 'forgotten'> {
  const { entry, slot } = locatePayment(id);
  const bucket = bucketOf(entry);
  const [fields, birth] = await Promise.all([
    readFields(servers, entryKey(bucket, entry)),
    servers.redis.hget(birthKey(bucket, id.chainId), 'at'),
  ]);
  if (slot in fields || 'receipt' in fields) return 'known';
  return minedAtMs < Number(birth ?? Infinity) + CLOCK_SKEW_MS ? 'forgotten' : 'unknown';
}

async function readEntry(servers: EntryServers, id: EntryId): Promise<PaymentRecord[]> {
  const entry = locateEntry(id);
  const fields = await readFields(servers, entryKey(bucketOf(entry), entry));
  return readRecords(fields).map(([, record]) => record);
}

async function readFields({ redis, acknowledged }: EntryServers, key: string): Promise<Record<string, string>> {
  if (acknowledged === undefined) return redis.hgetall(key);
  return (await acknowledged.run(key, ['hgetall', key])) as Record<string, string>;
}
