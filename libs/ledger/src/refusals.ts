import { REFUSED_EVENTS, type RefusedFacts } from '@tollgate/book-events';
import type { Hex, PaymentFailure } from '@tollgate/protocol';
import type { Cluster, Redis } from 'ioredis';

import type { LedgerRunner } from './continuity.js';
import { REFUSED_COUNTS, REFUSED_SEEN, REFUSED_STREAM, bucketOf, entryKey } from './keys.js';
import { LEDGER_SCRIPTS } from './ledger-scripts.js';
import { nameOfPayment, partiesOf, readPaymentName } from './payment-id.js';
import { readRecordedBaseUnits, readRecords } from './payment-record.js';
import type { Refusal } from './types.js';

/** False when the payment is already recorded with this failure. @param kept the oldest beyond these are dropped */
export async function recordRefusal(
  runner: LedgerRunner,
  refusal: Refusal,
  { kept, isBooked }: { kept: number; isBooked: boolean },
): Promise<boolean> {
  const { id, failure, payer, asset, payTo, amountBaseUnits, minedAtMs, detail } = refusal;
  const payment = nameOfPayment(id);
  const entry = { payment, failure, payer, asset, payTo, amountBaseUnits, minedAtMs, detail };
  const fields = Object.entries(entry).flatMap(([name, value]) =>
    value === undefined ? [] : [name, value.toString()],
  );
  const facts = isBooked ? JSON.stringify(describeRefusal(refusal)) : '';
  const args = [`${payment}|${failure}`, kept, payment, facts, ...fields];
  const keys = [REFUSED_SEEN, REFUSED_STREAM, REFUSED_COUNTS, REFUSED_EVENTS];
  return (await runner.run(LEDGER_SCRIPTS.recordRefusal, keys, args))[0] === 'recorded';
}

/** The script adds the count. */
function describeRefusal(refusal: Refusal): Omit<RefusedFacts, 'count'> {
  const { id, failure, payer, asset, payTo, amountBaseUnits, minedAtMs, detail } = refusal;
  return {
    failure,
    payer: payer ?? null,
    asset: (asset as Hex | undefined) ?? null,
    payTo: payTo ?? null,
    amount: amountBaseUnits?.toString() ?? null,
    transaction: 'txHash' in id ? id.txHash : null,
    logIndex: 'logIndex' in id ? id.logIndex : null,
    minedAtMs: minedAtMs ?? null,
    detail: detail ?? null,
  };
}

/** A payment that was made and refused. */
export interface RecordedRefusal {
  /** Position in the stream, from which the next page continues. */
  position: string;
  recordedAtMs: number;
  /** Entry and slot of the payment (see `EntrySlot`), as `tx:<chainId>:<hash>:<logIndex>`. */
  payment: string;
  failure: PaymentFailure;
  payer: string | null;
  /** The token of the amount; null where it is not known. */
  asset: string | null;
  /** The account that it went to; null where it is not known. */
  payTo: string | null;
  amountBaseUnits: string | null;
  minedAtMs: number | null;
  detail: string | null;
  /**
   * The payment was redeemed after all, for example with the payer's signature, which has a longer window than a bare
   * transfer. Do not refund it.
   */
  redeemed: boolean;
}

/** The refused payments, newest first: at most `limit`, and only those before the position `before` if given. */
export async function listRefusals(
  redis: Redis | Cluster,
  { limit = 100, before }: { limit?: number; before?: string } = {},
): Promise<RecordedRefusal[]> {
  const rows = await redis.xrevrange(REFUSED_STREAM, before === undefined ? '+' : `(${before}`, '-', 'COUNT', limit);
  return Promise.all(rows.map((row) => readRefusal(redis, row)));
}

async function readRefusal(redis: Redis | Cluster, [position, parts]: [string, string[]]): Promise<RecordedRefusal> {
  const fields = new Map<string, string>();
  for (let index = 0; index + 1 < parts.length; index += 2) fields.set(parts[index] ?? '', parts[index + 1] ?? '');
  const minedAtMs = fields.get('minedAtMs');
  const payment = fields.get('payment') ?? '';
  const known = partiesOf(readPaymentName(payment));
  return {
    position,
    recordedAtMs: Number(position.split('-')[0]),
    payment,
    failure: fields.get('failure') as PaymentFailure,
    payer: fields.get('payer') ?? known.payer,
    asset: fields.get('asset') ?? known.asset,
    payTo: fields.get('payTo') ?? null,
    amountBaseUnits: readRecordedBaseUnits(fields.get('amountBaseUnits')),
    minedAtMs: minedAtMs === undefined ? null : Number(minedAtMs),
    detail: fields.get('detail') ?? null,
    redeemed: await isRedeemed(redis, payment),
  };
}

async function isRedeemed(redis: Redis | Cluster, payment: string): Promise<boolean> {
  const at = payment.lastIndexOf(':');
  const [entry, slot] = [payment.slice(0, at), payment.slice(at + 1)];
  const [line, by] = await redis.hmget(entryKey(bucketOf(entry), entry), slot, `${slot}:by`);
  return readRecords({ [slot]: line ?? '', [`${slot}:by`]: by ?? '' }).some(
    ([, { state }]) => state === 'answered' || state === 'done',
  );
}
