import { setImmediate as nextTurn } from 'node:timers/promises';

import type { Queryable } from '../database/database.js';

/** A table of an export: its name with the version of its columns, which never change within a version. */
export interface ExportTable {
  readonly schema: string;
  readonly columns: readonly string[];
  /** The columns with base units of the row's `asset`. */
  readonly amounts: readonly string[];
  /** The rows after a position, in the order of the position: `$1` position, `$2` from, `$3` to, `$4` limit. */
  readonly sql: string;
  /** A position before every row of this time or later, in milliseconds since 1970. */
  readonly start: (within: Queryable, fromMs: number) => Promise<string>;
  /** A time after which rows come that an export has had already, in milliseconds since 1970. */
  readonly end: (within: Queryable) => Promise<number>;
}

export type ExportName = keyof typeof EXPORTS;

const isoTime = (column: string): string => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** Amounts are base units, times are UTC. */
export const EXPORTS = {
  payments: {
    schema: 'payments.v1',
    columns: [
      ...['id', 'state', 'at', 'scheme', 'network', 'asset', 'payer', 'recipient', 'route', 'request_id'],
      ...['transaction', 'reason', 'amount', 'refunded', 'for_other', 'path', 'query'],
    ],
    amounts: ['amount', 'refunded'],
    sql: `SELECT ${isoTime('at')} || ' ' || id AS position, id, state, ${isoTime('at')} AS at, scheme, network, asset, payer,
        recipient, route, request_id, transaction, reason, amount::text, refunded::text, for_other::text, path, query
      FROM payments WHERE (at, id) > (split_part($1, ' ', 1)::timestamptz, split_part($1, ' ', 2))
        AND at >= $2::timestamptz AND at < $3::timestamptz
      ORDER BY payments.at, id LIMIT $4`,
    start: () => Promise.resolve('1970-01-01T00:00:00.000Z '),
    end: findNewestChange,
  },
  entries: {
    schema: 'entries.v1',
    columns: ['id', 'booking', 'booked_at', 'kind', 'payment', 'account', 'asset', 'amount', 'route', 'payer'],
    amounts: ['amount'],
    // A page is read whole, and what is too late is left out of it: after that, all is too late.
    sql: `SELECT page.id::text AS position, page.id::text, booking::text, ${isoTime('booked_at')} AS booked_at, kind,
        payment, account, page.asset, page.amount::text, route, payer
      FROM (SELECT entries.*, booked_at, kind, payment FROM entries JOIN bookings ON bookings.id = booking
        WHERE entries.id > $1::bigint ORDER BY entries.id LIMIT $4) AS page
        LEFT JOIN payments ON payments.id = payment
      WHERE booked_at >= $2::timestamptz AND booked_at < $3::timestamptz ORDER BY page.id`,
    start: findEntryBefore,
    end: () => Promise.resolve(Infinity),
  },
} as const satisfies Record<string, ExportTable>;

/** Cells in the order of the table's columns. */
export type ExportRow = readonly (string | null)[];

const PAGE = 1_000;

/** An export, a page at a time, so that none has to fit into the memory. Times are milliseconds since 1970. */
export async function* readExport(
  within: Queryable,
  name: ExportName,
  { fromMs, toMs }: { fromMs: number; toMs: number },
): AsyncGenerator<readonly ExportRow[]> {
  const { sql, columns, start, end } = EXPORTS[name];
  const until = new Date(Math.min(toMs, await end(within))).toISOString();
  let position: string | null = await start(within, fromMs);
  while (position !== null) {
    // A database in this process answers without giving way to timers and requests.
    await nextTurn();
    const rows: Record<string, string | null>[] = await within.query(sql, [
      ...[position, new Date(fromMs).toISOString(), until, PAGE],
    ]);
    yield rows.map((row) => columns.map((column) => row[column] ?? null));
    position = rows.length === PAGE ? (rows.at(-1)?.['position'] ?? null) : null;
  }
}

/** A payment that changes after this time moves behind all others, where an export would meet it again. */
async function findNewestChange(within: Queryable): Promise<number> {
  const [row] = await within.query<{ newest: Date | null }>('SELECT max(at) AS newest FROM payments');
  return row?.newest ? row.newest.getTime() + 1 : 0;
}

/** The last entry before the first booking of this time or later, found by halves: bookings never go back in time. */
async function findEntryBefore(within: Queryable, fromMs: number): Promise<string> {
  const [end] = await within.query<{ last: number }>('SELECT last_booking AS last FROM bookkeeper');
  let [before, notBefore] = [0, (end?.last ?? 0) + 1];
  while (notBefore - before > 1) {
    const middle = Math.floor((before + notBefore) / 2);
    const [booking] = await within.query<{ at: Date }>('SELECT booked_at AS at FROM bookings WHERE id = $1', [middle]);
    if (booking !== undefined && booking.at.getTime() < fromMs) before = middle;
    else notBefore = middle;
  }
  // Without an order, for which the planner would read entries from an end of the table.
  const entries = await within.query<{ id: number }>('SELECT id FROM entries WHERE booking = $1', [before]);
  return String(Math.max(0, ...entries.map(({ id }) => id)));
}
