import type { Queryable, SqlValue } from '../database/database.js';
import type { BookWriter } from '../posting/book-writer.js';
import { listRefundsOf, readRefund, REFUND_COLUMNS, toRefund, type RefundRow } from './read-refunds.js';
import {
  findSentDoubts,
  hasTerms,
  RELEASED_STATES,
  type ArrivedTransfer,
  type Refund,
  type RefundCaps,
  type RefundState,
  type RefundTerms,
} from './refund.js';
import { readTaken, releaseTransfers, retakeTransfers, takeTransfers } from './take-transfers.js';

export type AskResult =
  /** `known`: the same refund was asked for before. */
  | { outcome: 'asked' | 'known'; refund: Refund }
  /** A refund of this number has other terms. */
  | { outcome: 'differs'; refund: Refund }
  /** The payment's next refund has this number. */
  | { outcome: 'not_next'; next: number }
  /** More than what arrived: so much is left, in base units. */
  | { outcome: 'exceeds'; left: bigint }
  | OverCap;

export interface OverCap {
  readonly outcome: 'over_cap';
  readonly cap: keyof RefundCaps;
  readonly left: bigint;
}

/** Who asks, and what limits it. */
export interface AskLimits {
  readonly keyId: string;
  readonly caps: RefundCaps;
  /** Where all refunds of the payment together are more than this, in base units, the refund has this doubt. */
  readonly large: { readonly above: bigint; readonly doubt: string } | null;
}

/**
 * Writes a refund, in one transaction with the check that all refunds of the payment are at most what arrived, and within
 * the caps. The same transaction notes what the refund takes of each transfer, since another payment's name may stand for
 * the same transfer. A repeated call with the same terms returns the same refund, whatever became of it; one that was
 * refused is asked for anew.
 * @throws DeposedError, BookUnavailableError
 */
export function askForRefund(
  writer: BookWriter,
  { transfers, ...terms }: RefundTerms & { readonly transfers: readonly ArrivedTransfer[] },
  { keyId, caps, large }: AskLimits,
): Promise<AskResult> {
  return writer.write(async (within): Promise<AskResult> => {
    const refunds = await listRefundsOf(within, terms.payment);
    const known = refunds.find(({ number }) => number === terms.number);
    if (known !== undefined && known.state !== 'refused') {
      return { outcome: hasTerms(known, terms) ? 'known' : 'differs', refund: known };
    }
    const next = nextNumber(refunds);
    if (terms.number !== next) return { outcome: 'not_next', next };
    const { left, taken } = await readLeft(within, terms.payment, refunds);
    if (BigInt(terms.amount) > left) return { outcome: 'exceeds', left: left > 0n ? left : 0n };
    const over = await findCap(within, terms, { keyId, caps });
    if (over !== null) return over;
    const takes = await takeTransfers(within, terms, transfers, BigInt(terms.amount));
    if (takes === null) {
      const arrived = transfers.reduce((sum, transfer) => sum + BigInt(transfer.arrived), 0n);
      const free = arrived - (await readTaken(within, terms, transfers));
      return { outcome: 'exceeds', left: free > 0n ? free : 0n };
    }
    // Here, because another refund of the payment may have been asked for since the terms were made.
    const isLarge = large !== null && taken + BigInt(terms.amount) > large.above;
    const all = [...terms.doubts, ...findSentDoubts(refunds), ...(isLarge ? [large.doubt] : [])];
    const doubts = [...new Set(all)];
    return { outcome: 'asked', refund: await insert(within, { ...terms, doubts, takes }, keyId) };
  });
}

/** The number of a payment's next refund: one that was refused keeps its number. */
export function nextNumber(refunds: readonly Refund[]): number {
  const last = refunds.at(-1);
  if (last === undefined) return 1;
  return last.state === 'refused' ? last.number : last.number + 1;
}

/**
 * What refunds have taken, or may still take, of what arrived: base units.
 * @param refunded the payment's own sum, which counts where it is higher: a book that was restored may lack refunds
 */
export function sumOfRefunds(refunds: readonly Refund[], refunded: string): bigint {
  const held = refunds.filter(({ state }) => !RELEASED_STATES.includes(state));
  const sum = held.reduce((total, { amount }) => total + BigInt(amount), 0n);
  return sum > BigInt(refunded) ? sum : BigInt(refunded);
}

export type RefundRetry =
  | { outcome: 'retried'; refund: Refund }
  /** It has not failed, or another caller has retried it since it was read. */
  | { outcome: 'changed' }
  | OverCap;

/**
 * Lets a refund that has failed be sent again, as its next attempt, within the caps of today.
 * @throws DeposedError, BookUnavailableError
 */
export function retryRefund(
  writer: BookWriter,
  refund: Refund,
  { keyId, caps }: Pick<AskLimits, 'keyId' | 'caps'>,
): Promise<RefundRetry> {
  return writer.write(async (within): Promise<RefundRetry> => {
    const now = await readRefund(within, refund.id);
    if (now?.state !== 'failed' || now.attempt !== refund.attempt) return { outcome: 'changed' };
    const over = await findCap(within, now, { keyId, caps });
    if (over !== null) return over;
    const doubts = [...new Set([...now.doubts, ...findSentDoubts([now])])];
    const [row] = await within.query<RefundRow>(
      `UPDATE refunds SET state = 'closed', attempt = attempt + 1, attempt_at = now(), changed_at = now(), job = NULL,
          transaction = NULL, detail = NULL, doubts = $2::jsonb, asked_by = array_append(asked_by, $3::text)
        WHERE id = $1 RETURNING ${REFUND_COLUMNS}`,
      [now.id, JSON.stringify(doubts), keyId],
    );
    if (row === undefined) throw new Error('the refund was not written');
    return { outcome: 'retried', refund: toRefund(row) };
  });
}

/**
 * Changes a refund, if it is in one of these states still, and at the same attempt. Null: it is not.
 * @throws DeposedError, BookUnavailableError
 */
export async function changeRefund(
  writer: BookWriter,
  { id, attempt }: Pick<Refund, 'id' | 'attempt'>,
  from: readonly RefundState[],
  change: Partial<Pick<Refund, 'state' | 'job' | 'transaction' | 'detail' | 'maybeSent' | 'doubts'>>,
): Promise<Refund | null> {
  const { maybeSent, doubts, ...columns } = change;
  const values: SqlValue[] = [id, attempt, from];
  const assignments = Object.entries(columns).map(([name, value]) => `${name} = $${values.push(value)}`);
  if (maybeSent !== undefined) assignments.push(`maybe_sent = $${values.push(maybeSent)}`);
  if (doubts !== undefined) assignments.push(`doubts = $${values.push(JSON.stringify(doubts))}::jsonb`);
  const row = await writer.write(async (within) => {
    const [changed] = await within.query<RefundRow>(
      `UPDATE refunds SET ${['changed_at = now()', ...assignments].join(', ')}
        WHERE id = $1 AND attempt = $2 AND state = ANY($3::text[]) RETURNING ${REFUND_COLUMNS}`,
      values,
    );
    if (changed === undefined) return undefined;
    if (RELEASED_STATES.includes(changed.state)) await releaseTransfers(within, id);
    // One that was given up has been paid all the same. Where another has what it would take, both are paid: that stays.
    else if (from.some((state) => RELEASED_STATES.includes(state)))
      await retakeTransfers(within, id, BigInt(changed.amount));
    return changed;
  });
  return row === undefined ? null : toRefund(row);
}

/** What has arrived and no refund has taken. A withdrawn payment has nothing. */
async function readLeft(within: Queryable, payment: string, refunds: readonly Refund[]) {
  const [row] = await within.query<{ amount: string | null; refunded: string }>(
    `SELECT CASE WHEN state = 'withdrawn' THEN 0 ELSE amount END::text AS amount, refunded::text
      FROM payments WHERE id = $1`,
    [payment],
  );
  const taken = sumOfRefunds(refunds, row?.refunded ?? '0');
  return { left: BigInt(row?.amount ?? '0') - taken, taken };
}

/** What counts for the limits of a day, UTC. `$1` is the chain, `$2` the token, `$3` the states that count no more. */
const OF_TODAY = `chain_id = $1 AND asset = $2 AND state <> ALL($3::text[])
  AND attempt_at >= date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'`;

/** Base units that refunds of today, UTC, have paid back or may pay back yet. */
export async function readRefundedToday(within: Queryable, chainId: number, asset: string): Promise<bigint> {
  const [row] = await within.query<{ day: string }>(
    `SELECT coalesce(sum(amount), 0)::text AS day FROM refunds WHERE ${OF_TODAY}`,
    [chainId, asset, RELEASED_STATES],
  );
  return BigInt(row?.day ?? '0');
}

/** A refund counts on the day of its last attempt, and for the API key that asked for that. */
async function findCap(
  within: Queryable,
  { id, amount, chainId, asset, recipient }: RefundTerms,
  { keyId, caps }: Pick<AskLimits, 'keyId' | 'caps'>,
): Promise<OverCap | null> {
  const [row] = await within.query<{ day: string; payer: string; key: string }>(
    `SELECT coalesce(sum(amount), 0)::text AS day,
        coalesce(sum(amount) FILTER (WHERE recipient = $4), 0)::text AS payer,
        coalesce(sum(amount) FILTER (WHERE asked_by[cardinality(asked_by)] = $5), 0)::text AS key
      FROM refunds WHERE ${OF_TODAY} AND id <> $6`,
    [chainId, asset, RELEASED_STATES, recipient, keyId, id],
  );
  const taken: Readonly<Record<keyof RefundCaps, string>> = {
    ...{ each: '0', perPayerAndDay: row?.payer ?? '0', perKeyAndDay: row?.key ?? '0', perDay: row?.day ?? '0' },
  };
  for (const cap of ['each', 'perPayerAndDay', 'perKeyAndDay', 'perDay'] as const) {
    const most = caps[cap];
    if (most === null) continue;
    const left = most - BigInt(taken[cap]);
    if (BigInt(amount) > left) return { outcome: 'over_cap', cap, left: left > 0n ? left : 0n };
  }
  return null;
}

async function insert(within: Queryable, terms: RefundTerms & { takes: object }, keyId: string): Promise<Refund> {
  const { id, payment, number, amount, chainId, asset, recipient, permit, reason, answered, doubts, arrivedIn, takes } =
    terms;
  const [row] = await within.query<RefundRow>(
    `INSERT INTO refunds (id, payment, number, state, amount, chain_id, asset, recipient, reason, answered, doubts,
        asked_by, permit, arrived_in, takes, asked_at, changed_at, attempt_at, attempt)
      VALUES ($1, $2, $3, 'asked', $4::numeric, $5, $6, $7, $8, $9, $10::jsonb, ARRAY[$11], $12, $13, $14::jsonb,
        now(), now(), now(), 1)
      ON CONFLICT (id) DO UPDATE SET state = 'asked', amount = excluded.amount, recipient = excluded.recipient,
        permit = excluded.permit, reason = excluded.reason, answered = excluded.answered, doubts = excluded.doubts,
        asked_by = excluded.asked_by, arrived_in = excluded.arrived_in, takes = excluded.takes, asked_at = now(),
        changed_at = now(), attempt_at = now(), detail = NULL
      RETURNING ${REFUND_COLUMNS}`,
    [
      ...[id, payment, number, amount, chainId, asset, recipient],
      ...[reason, answered, JSON.stringify(doubts), keyId, permit, arrivedIn, JSON.stringify(takes)],
    ],
  );
  if (row === undefined) throw new Error('the refund was not written');
  return toRefund(row);
}
