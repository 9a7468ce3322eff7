import book from '../migrations/0001-book.sql';
import reconcile from '../migrations/0002-reconcile.sql';
import refunds from '../migrations/0003-refunds.sql';
import type { ClaimedDatabase } from './database.js';

/** By number, in the order in which they run. One that was released is never changed; another one follows it. */
const MIGRATIONS: readonly (readonly [number: number, sql: string])[] = [
  [1, book],
  [2, reconcile],
  [3, refunds],
];

/**
 * Brings the tables to this release's version; each migration is one transaction.
 * @throws Error for a database of a later release
 */
export async function migrate(database: ClaimedDatabase): Promise<void> {
  await database.execute(
    'CREATE TABLE IF NOT EXISTS migrations (number bigint PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())',
  );
  const [row] = await database.transaction((within) =>
    within.query<{ last: number | null }>('SELECT max(number) AS last FROM migrations'),
  );
  const last = row?.last ?? 0;
  const newest = MIGRATIONS.at(-1)?.[0] ?? 0;
  if (last > newest) {
    throw new Error(`The book has tables of a later release (version ${last}; this release knows ${newest}).`);
  }
  for (const [number, sql] of MIGRATIONS) {
    if (number <= last) continue;
    await database.execute(`BEGIN; ${sql}; INSERT INTO migrations (number) VALUES (${number}); COMMIT`);
  }
}
