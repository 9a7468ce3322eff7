import book from '../migrations/0001-book.sql';
import reconcileRows from '../migrations/0002-reconcile-rows.sql';
import reconcile from '../migrations/0002-reconcile.sql';
import refunds from '../migrations/0003-refunds.sql';
import events from '../migrations/0004-events.sql';
import refundGuardsRows from '../migrations/0005-refund-guards-rows.sql';
import refundGuards from '../migrations/0005-refund-guards.sql';
import refusedEvents from '../migrations/0006-refused-events.sql';
import streamPositionsRows from '../migrations/0007-stream-positions-rows.sql';
import streamPositions from '../migrations/0007-stream-positions.sql';
import oldest from '../migrations/0008-oldest.sql';
import balancesRows from '../migrations/0009-balances-rows.sql';
import balances from '../migrations/0009-balances.sql';
import lookups from '../migrations/0010-lookups.sql';
import leftOver from '../migrations/0011-left-over.sql';
import askedAmount from '../migrations/0012-asked-amount.sql';
import { NO_STATEMENT_LIMIT, type ClaimedDatabase, type Queryable } from './database.js';
import { openFolder } from './pglite-database.js';
import { openServer } from './postgres-database.js';

/** Where the book is: a folder of this machine, or a PostgreSQL server by its URL. */
export type BookPlace = { readonly folder: string } | { readonly url: string };

/**
 * Opens the book for this process alone, with its tables at this release's version.
 * @throws BookHeldError while another process has it; BookUnavailableError
 */
export async function claimBook(place: BookPlace): Promise<ClaimedDatabase> {
  const database = 'url' in place ? await openServer(place.url) : await openFolder(place.folder);
  try {
    await migrate(database);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

interface Migration {
  readonly number: number;
  readonly sql: string;
  /** One statement, for the rows that were written before it. */
  readonly rows?: string;
}

/** In the order in which they run. One that was released is never changed; another one follows it. */
const MIGRATIONS: readonly Migration[] = [
  { number: 1, sql: book },
  { number: 2, sql: reconcile, rows: reconcileRows },
  { number: 3, sql: refunds },
  { number: 4, sql: events },
  { number: 5, sql: refundGuards, rows: refundGuardsRows },
  { number: 6, sql: refusedEvents },
  { number: 7, sql: streamPositions, rows: streamPositionsRows },
  { number: 8, sql: oldest },
  { number: 9, sql: balances, rows: balancesRows },
  { number: 10, sql: lookups },
  { number: 11, sql: leftOver },
  { number: 12, sql: askedAmount },
];

/**
 * Brings the tables to this release's version; each migration is one transaction.
 * @throws Error for a database of a later release
 */
export async function migrate(database: ClaimedDatabase): Promise<void> {
  await database.execute(
    'CREATE TABLE IF NOT EXISTS migrations (number bigint PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())',
  );
  const rows = await database.transaction((within) =>
    within.query<{ number: number }>('SELECT number FROM migrations ORDER BY number'),
  );
  const [last, newest] = [rows.at(-1)?.number ?? 0, MIGRATIONS.at(-1)?.number ?? 0];
  if (last > newest) {
    throw new Error(`The book has tables of a later release (version ${last}; this release knows ${newest}).`);
  }
  for (const { number, sql, rows: forRows = '' } of MIGRATIONS) {
    if (rows.some((row) => row.number === number)) continue;
    const noted = `INSERT INTO migrations (number) VALUES (${number})`;
    await database.execute(`BEGIN; ${NO_STATEMENT_LIMIT}; ${sql}; ${forRows}; ${noted}; COMMIT`);
  }
}

/**
 * Brings rows of an earlier release, written into tables of this one, to this release's version.
 * @param had the migrations of the book that they come from
 */
export async function migrateRows(within: Queryable, had: readonly number[]): Promise<void> {
  for (const { number, rows } of MIGRATIONS) {
    if (rows !== undefined && !had.includes(number)) await within.query(rows);
  }
}
