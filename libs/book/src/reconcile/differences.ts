import { z } from 'zod';

import { assetName } from '../bookings/accounts.js';
import type { Queryable } from '../database/database.js';
import { describeDifference, storeOutgoingEvents } from '../events/outgoing-event.js';

export const DIFFERENCE_LISTS = ['chain_only', 'book_only', 'different'] as const;

/** Something that chain and book do not agree on, and that needs a person, in a list. */
export const listedDifference = z
  .object({
    subject: z.string().describe('The payment, or the transfer or transaction of ours that no payment is booked for.'),
    transaction: z.string().nullable(),
    asset: z.string().describe('`<chainId>:<address>` or `<chainId>:native`.'),
    amount: z.string().describe('Base units, not negative.'),
    at: z.string(),
    reason: z.string(),
  })
  .meta({ id: 'ListedDifference' });
export type ListedDifference = z.output<typeof listedDifference>;

export interface Difference extends Readonly<Omit<ListedDifference, 'at'>> {
  readonly list: (typeof DIFFERENCE_LISTS)[number];
  readonly atMs: number;
}

/** Replaces what the comparison with a chain before this one could not explain, and tells others what is new. */
export async function storeDifferences(
  within: Queryable,
  chainId: number,
  found: readonly Difference[],
  nowMs = Date.now(),
): Promise<void> {
  const known = await within.query<NamedDifference>(
    'DELETE FROM differences WHERE starts_with(asset, $1) RETURNING list, asset, subject',
    [assetName(chainId, '')],
  );
  if (found.length === 0) return;
  const rows = found.map(({ atMs, ...one }) => ({ ...one, at: new Date(atMs).toISOString() }));
  await within.query(
    `INSERT INTO differences (list, subject, transaction, asset, amount, at, reason)
      SELECT list, subject, transaction, asset, amount, at, reason FROM jsonb_to_recordset($1::jsonb)
        AS d(list text, subject text, transaction text, asset text, amount numeric, at timestamptz, reason text)
      ON CONFLICT DO NOTHING`,
    [JSON.stringify(rows)],
  );
  const names = new Set(known.map(nameDifference));
  const added = rows.filter((row) => !names.has(nameDifference(row)));
  // The time is part of the key, so that a difference that disappears and returns is reported again.
  const events = added.map((row) => describeDifference(`${nameDifference(row)}:${nowMs}`, nowMs, row));
  await storeOutgoingEvents(within, events);
}

/** Whether the last comparison left something open about this transaction. */
export async function hasDifference(within: Queryable, transaction: string): Promise<boolean> {
  return (await within.query('SELECT FROM differences WHERE transaction = $1 LIMIT 1', [transaction])).length > 0;
}

/**
 * The sum of the differences by asset, in base units: of all, or of a time in milliseconds since 1970, from inclusive, to
 * exclusive.
 */
export function sumDifferences(
  within: Queryable,
  { fromMs, toMs }: { fromMs?: number; toMs?: number } = {},
): Promise<{ asset: string; amount: string }[]> {
  const time = (ms: number | undefined, otherwise: string): string =>
    ms === undefined ? otherwise : new Date(ms).toISOString();
  return within.query(
    `SELECT asset, sum(amount)::text AS amount FROM differences
      WHERE at >= $1::timestamptz AND at < $2::timestamptz GROUP BY asset ORDER BY asset`,
    [time(fromMs, '-infinity'), time(toMs, 'infinity')],
  );
}

type NamedDifference = Pick<Difference, 'list' | 'asset' | 'subject'>;

const nameDifference = ({ list, asset, subject }: NamedDifference): string => `${list}:${asset}:${subject}`;
