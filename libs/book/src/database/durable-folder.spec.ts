import fs, { mkdtempSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startChild } from '../../../../tools/devnet/processes/child-process.js';
import { createTestFolder, type TestBook } from '../../test/create-test-book.js';
import { verifyBook } from '../reading/verify-book.js';
import type { ClaimedDatabase } from './database.js';
import { openFolder } from './pglite-database.js';

describe('a book in a folder', () => {
  let folder: string;
  let database: ClaimedDatabase;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-durable-'));
    database = await openFolder(folder);
    await database.execute('CREATE TABLE written (number bigint)');
  });

  afterEach(() => jest.restoreAllMocks());

  afterAll(async () => {
    await database.close();
    rmSync(folder, { recursive: true });
  });

  /** The files that the disk is waited for, in their order. */
  async function syncedBy(work: () => Promise<unknown>): Promise<string[]> {
    const synced: string[] = [];
    const { fsyncSync } = fs;
    jest.spyOn(fs, 'fsyncSync').mockImplementation((file) => {
      synced.push(readlinkSync(`/proc/self/fd/${file}`));
      fsyncSync(file);
    });
    await work();
    return synced;
  }

  const write = () => database.transaction((within) => within.query('INSERT INTO written VALUES (1)'));

  it('waits at a commit until the disk has the log of the transaction', async () => {
    expect(await syncedBy(write)).toEqual([expect.stringContaining(join(folder, 'data/pg_wal/'))]);
  });

  it('waits for no disk where nothing was written', async () => {
    expect(await syncedBy(() => database.query('SELECT * FROM written'))).toEqual([]);
  });

  it('has the tables on the disk before it forgets their log', async () => {
    await write();
    const synced = await syncedBy(() => database.execute('CHECKPOINT'));
    expect(synced.some((path) => path.includes('/data/base/'))).toBe(true);
    expect(synced.at(-1)).toMatch(/pg_control$|pg_wal/);
  });
});

describe('a bookkeeper with its book in a folder', () => {
  let book: TestBook;

  beforeAll(async () => {
    book = await createTestFolder();
  });

  afterAll(() => book.remove());

  // The second goes on with the book that the first one left.
  it.each([
    ['fsyncSync', 'I/O error'],
    ['writeSync', 'No space left on device'],
  ])('ends when %s fails for its log, and its successor has all that was written', async (call, reason) => {
    let written = -1;
    const child = await startChild({
      name: 'killed-writer',
      command: process.execPath,
      args: ['scripts/typescript.cjs', 'libs/book/test/killed-writer.ts', JSON.stringify(book.place), call],
      onLine: (line) => {
        const [, batch] = /^wrote (\d+)$/.exec(line) ?? [];
        if (batch !== undefined) written = Number(batch);
      },
    });
    try {
      await child.waitForLine(new RegExp(`^The database of the book has stopped: .*${reason}`), 90_000);
      expect(await child.exited).toMatchObject({ code: 1 });
    } finally {
      await child.end('SIGKILL');
    }
    expect(written).toBe(3);
    const database = await book.claim();
    const { bookings, broken } = await verifyBook(database, []);
    expect(broken).toBeNull();
    expect(bookings).toBeGreaterThanOrEqual((written + 1) * 20);
    await database.close();
  });
});
