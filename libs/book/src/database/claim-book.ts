import type { ClaimedDatabase } from './database.js';
import { migrate } from './migrate.js';
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
