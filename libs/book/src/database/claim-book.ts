import book from '../migrations/0001-book.sql';
import { NO_STATEMENT_LIMIT, type ClaimedDatabase } from './database.js';
import { gatherStatistics, openFolder } from './pglite-database.js';
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
    // A server gathers statistics by itself.
    if (database.kind === 'pglite') await gatherStatistics(database);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

interface Migration {
  readonly number: number;
  readonly sql: string;
}

/** In the order in which they run. One that was released is never changed; another one follows it. */
const MIGRATIONS: readonly Migration[] = [{ number: 1, sql: book }];

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
  for (const { number, sql } of MIGRATIONS) {
    if (rows.some((row) => row.number === number)) continue;
    const noted = `INSERT INTO migrations (number) VALUES (${number})`;
    await database.execute(`BEGIN; ${NO_STATEMENT_LIMIT}; ${sql}; ${noted}; COMMIT`);
  }
}
