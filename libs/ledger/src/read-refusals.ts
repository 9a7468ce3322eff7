import type { Cluster, Redis } from 'ioredis';
import type { PaymentFailure } from '@tollgate/protocol';
import { REFUSED_STREAM } from './keys.js';

/** A payment that was made and refused. */
export interface RecordedRefusal {
  /** Position in the stream, to go on from. */
  position: string;
  recordedAtMs: number;
  /** Entry and slot of the payment, as `tx:<chainId>:<hash>[:<logIndex>]`. */
  payment: string;
  failure: PaymentFailure;
  payer: string | null;
  amountBaseUnits: string | null;
  minedAtMs: number | null;
  detail: string | null;
}

/** The refused payments, newest first, at most `limit` of them, older than `before` (a position) where it is given. */
export async function listRefusals(
  redis: Redis | Cluster,
  { limit = 100, before }: { limit?: number; before?: string } = {},
): Promise<RecordedRefusal[]> {
  const rows = await redis.xrevrange(REFUSED_STREAM, before === undefined ? '+' : `(${before}`, '-', 'COUNT', limit);
  return rows.map(([position, parts]) => {
    const fields = new Map<string, string>();
    for (let index = 0; index + 1 < parts.length; index += 2) fields.set(parts[index] ?? '', parts[index + 1] ?? '');
    const minedAtMs = fields.get('minedAtMs');
    return {
      position,
      recordedAtMs: Number(position.split('-')[0]),
      payment: fields.get('payment') ?? '',
      failure: fields.get('failure') as PaymentFailure,
      payer: fields.get('payer') ?? null,
      amountBaseUnits: fields.get('amountBaseUnits') ?? null,
      minedAtMs: minedAtMs === undefined ? null : Number(minedAtMs),
      detail: fields.get('detail') ?? null,
    };
  });
}
