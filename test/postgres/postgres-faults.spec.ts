import { claimBook } from '../../libs/book/src/database/claim-book.js';
import { BookUnavailableError, type ClaimedDatabase } from '../../libs/book/src/database/database.js';
import { BookWriter } from '../../libs/book/src/posting/book-writer.js';
import { postEvents } from '../../libs/book/src/posting/post-events.js';
import { verifyBook } from '../../libs/book/src/reading/verify-book.js';
import { answered, deliver, SELLER, transferId } from '../../libs/book/test/sample-events.js';
import { startPostgres, type PostgresServer } from '../../tools/devnet/processes/postgres.js';
import { waitFor } from '../harness/retry.js';

const BATCH = 20;

describe('a PostgreSQL server', () => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await startPostgres();
  });

  afterAll(() => server.stop());

  async function claimSoon(): Promise<ClaimedDatabase> {
    let claimed: ClaimedDatabase | null = null;
    await waitFor('the book is claimed', async () => {
      claimed = await claimBook({ url: server.url }).catch(() => null);
      return claimed !== null;
    });
    return claimed!;
  }

  it('gives this role no right to change what is booked', async () => {
    const database = await claimSoon();
    const rows = await database.query<{ table: string; may: boolean }>(
      `SELECT t AS table, has_table_privilege(t, 'UPDATE, DELETE, TRUNCATE') AS may
        FROM unnest(ARRAY['bookings', 'entries', 'closings', 'audit']) AS t`,
    );
    expect(rows.filter(({ may }) => may)).toEqual([]);
    await database.close();
  });

  it('that is killed in the middle of batches has whole ones, and all that were reported as written', async () => {
    const database = await claimSoon();
    const writer = await BookWriter.open(database, 'spec');
    let [written, ended] = [0, null as unknown];
    const writing = (async () => {
      for (let batch = 0; ended === null; batch++) {
        const events = Array.from({ length: BATCH }, (_, index) =>
          deliver(answered(transferId(batch * BATCH + index))),
        );
        await postEvents(writer, events, SELLER);
        written = batch + 1;
      }
    })().catch((error: unknown) => (ended = error));
    await waitFor('some are written', () => Promise.resolve(written >= 5));
    await server.kill();
    await writing;
    expect(ended).toBeInstanceOf(BookUnavailableError);
    expect(await database.lost).toEqual(expect.any(String));
    await database.close();

    await server.start();
    const again = await claimSoon();
    const verdict = await verifyBook(again, []);
    expect(verdict).toMatchObject({ broken: null });
    expect(verdict.bookings % BATCH).toBe(0);
    expect(verdict.bookings).toBeGreaterThanOrEqual(written * BATCH);
    await again.close();
  });
});
