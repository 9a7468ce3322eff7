import { setTimeout as sleep } from 'node:timers/promises';

import { waitFor } from '../../../../test/harness/retry.js';
import { startChild } from '../../../../tools/devnet/processes/child-process.js';
import { createTestBook, type TestBook } from '../../test/create-test-book.js';
import { BookHeldError, type ClaimedDatabase } from '../database/database.js';
import { verifyBook } from '../reading/verify-book.js';

describe('a bookkeeper that is killed while it writes', () => {
  let book: TestBook;

  beforeAll(async () => {
    book = await createTestBook();
  });

  afterAll(() => book.remove());

  // Each run goes on with the book that the one before it left, and repeats its first events.
  it.each([0, 7, 31])(
    'leaves whole batches, all that it reported as written among them (%d ms into a batch)',
    async (delayMs) => {
      let written = -1;
      const child = await startChild({
        name: 'killed-writer',
        command: process.execPath,
        args: ['scripts/typescript.cjs', 'libs/book/test/killed-writer.ts', JSON.stringify(book.place)],
        onLine: (line) => {
          const [, batch] = /^wrote (\d+)$/.exec(line) ?? [];
          if (batch !== undefined) written = Number(batch);
        },
      });
      await child.waitForLine(/^wrote 3$/, 90_000);
      // No second process opens the book meanwhile, in a folder or on a server.
      await expect(book.claim()).rejects.toThrow(BookHeldError);
      await sleep(delayMs);
      await child.end('SIGKILL');

      const database = await claimSoon();
      const verdict = await verifyBook(database, []);
      expect(verdict.broken).toBeNull();
      expect(verdict.bookings % 20).toBe(0);
      expect(verdict.bookings).toBeGreaterThanOrEqual((written + 1) * 20);
      for (const table of ['events', 'payment_events']) {
        expect(await database.query(`SELECT count(*) AS count FROM ${table}`)).toEqual([{ count: verdict.bookings }]);
      }
      await database.close();
    },
  );

  /** A server notices only after a moment that its client is gone. */
  async function claimSoon() {
    let claimed: ClaimedDatabase | null = null;
    await waitFor('the book is claimed', async () => (claimed = await book.claim().catch(() => null)) !== null);
    return claimed!;
  }
});
