import book from '../migrations/0001-book.sql';
import reconcile from '../migrations/0002-reconcile.sql';
import refunds from '../migrations/0003-refunds.sql';
import events from '../migrations/0004-events.sql';
import refundGuards from '../migrations/0005-refund-guards.sql';
import refusedEvents from '../migrations/0006-refused-events.sql';
import type { ClaimedDatabase } from './database.js';
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

/** By number, in the order in which they run. One that was released is never changed; another one follows it. */
const MIGRATIONS: readonly (readonly [number: number, sql: string])[] = [
  [1, book],
  [2, reconcile],
  [3, refunds],
  [4, events],
  [5, refundGuards],
  [6, refusedEvents],
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
  const [last, newest] = [rows.at(-1)?.number ?? 0, MIGRATIONS.at(-1)?.[0] ?? 0];
  if (last > newest) {
    throw new Error(`The book has tables of a later release (version ${last}; this release knows ${newest}).`);
  }
  for (const [number, sql] of MIGRATIONS) {
    if (rows.some((row) => row.number === number)) continue;
    await database.execute(`BEGIN; ${sql}; INSERT INTO migrations (number) VALUES (${number}); COMMIT`);
  }
}
