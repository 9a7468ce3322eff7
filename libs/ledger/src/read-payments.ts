import type { Cluster, Redis } from 'ioredis';

import { answerKey, bucketOf, entryKey, entryOfKey } from './keys.js';
import { locatePayment, partiesOf, readPaymentId, type PaymentId } from './payment-id.js';
import { readRecordedBaseUnits, readRecords, type PaymentRecord } from './payment-record.js';

export type RecordedState = PaymentRecord['state'];

/** A payment in the ledger, as shown to an operator. */
export interface PaymentListing extends Omit<PaymentRecord, 'owner' | 'fingerprint' | 'retryKey' | 'epoch'> {
  id: PaymentId;
  /** Whether the request had a retry key; only the key's hash is stored. */
  hasRetryKey: boolean;
  /** The token; null where the ledger does not know it, as with a bare transfer. */
  asset: string | null;
  /** Null where the ledger does not know it. */
  payer: string | null;
  /** The final amount of a metered payment; null for other payments, and until the amount is fixed. */
  meteredBaseUnits: string | null;
}

export interface PaymentDetails extends PaymentListing {
  fingerprint: string;
  /** Milliseconds until the entry expires; null: never. */
  forgottenInMs: number | null;
  /** Bytes of the stored answer, with its headers; null without one. */
  answerBytes: number | null;
}

export interface ListRequest {
  state?: RecordedState;
  /** The approximate page size: a page ends with the SCAN batch that reaches it. Default 100. */
  limit?: number;
  /** The `cursor` of the previous page. */
  cursor?: string;
}

/**
 * A page of the ledger's payments in no particular order, by SCAN: a payment that exists throughout is listed, one that
 * comes or goes meanwhile may be. `cursor` is null after the last page.
 */
export async function listPayments(
  redis: Redis | Cluster,
  { state, limit = 100, cursor = '0:0' }: ListRequest = {},
): Promise<{ payments: PaymentListing[]; cursor: string | null }> {
  const servers = redis.isCluster ? (redis as Cluster).nodes('master') : [redis as Redis];
  let [index = 0, position = '0'] = [Number(cursor.split(':')[0]), cursor.split(':')[1]];
  const payments: PaymentListing[] = [];
  for (let server = servers[index]; server; server = servers[++index]) {
    do {
      const [next, keys] = await server.scan(position, 'MATCH', 'tollgate:{pay-*}:[tap][xue]*', 'COUNT', 500);
      position = next;
      for (const found of await Promise.all(keys.map((key) => readEntry(redis, key)))) {
        payments.push(...found.filter((one) => state === undefined || one.state === state));
      }
      if (payments.length >= limit && position !== '0') return { payments, cursor: `${index}:${position}` };
    } while (position !== '0');
    if (payments.length >= limit && index + 1 < servers.length) return { payments, cursor: `${index + 1}:0` };
  }
  return { payments, cursor: null };
}

async function readEntry(redis: Redis | Cluster, key: string): Promise<PaymentListing[]> {
  const entry = entryOfKey(key);
  if (!entry) return [];
  const fields = await redis.hgetall(key);
  return readRecords(fields).flatMap(([slot, record]) => {
    const id = readPaymentId({ entry, slot });
    return id ? [toListing(id, record, fields[`${slot}:amount`])] : [];
  });
}

function toListing(id: PaymentId, record: PaymentRecord, amount: string | undefined): PaymentListing {
  const { state, generation, releases, reproductions, atMs, untilMs, retryKey } = record;
  return {
    id,
    state,
    generation,
    releases,
    reproductions,
    atMs,
    untilMs,
    hasRetryKey: retryKey !== null,
    ...partiesOf(id),
    meteredBaseUnits: readRecordedBaseUnits(amount),
  };
}

/** All payments of one entry (a transaction, or a signed payment) in the order of their logs. */
export async function showPayments(redis: Redis | Cluster, entry: string): Promise<PaymentDetails[]> {
  const bucket = bucketOf(entry);
  const key = entryKey(bucket, entry);
  const [fields, ttlMs] = [await redis.hgetall(key), await redis.pttl(key)];
  const details = await Promise.all(
    readRecords(fields).map(async ([slot, record]) => {
      const id = readPaymentId({ entry, slot });
      if (!id) return [];
      const bytes = await redis.strlen(answerKey(bucket, entry, locatePayment(id).slot));
      const listing = toListing(id, record, fields[`${slot}:amount`]);
      const answerBytes = bytes > 0 ? bytes : null;
      const { fingerprint } = record;
      return [{ ...listing, fingerprint, forgottenInMs: ttlMs < 0 ? null : ttlMs, answerBytes }];
    }),
  );
  const logOf = ({ id }: PaymentDetails): number => (id.kind === 'transfer' ? id.logIndex : -1);
  return details.flat().sort((one, other) => logOf(one) - logOf(other));
}
