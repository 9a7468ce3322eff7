import { migrate } from '../src/database/claim-book.js';
import { SCHEMA, type ClaimedDatabase } from '../src/database/database.js';

/** Makes a book new in the database that is open: that takes a fraction of the time of another database. */
export async function emptyBook(database: ClaimedDatabase): Promise<void> {
  await database.execute(`DROP SCHEMA ${SCHEMA} CASCADE; CREATE SCHEMA ${SCHEMA}`);
  await migrate(database);
}
