import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { createTestBook, createTestFolder, type TestBook } from '../../test/create-test-book.js';
import { answered, deliver, SELLER, transferId } from '../../test/sample-events.js';
import { useTestBook } from '../../test/use-test-book.js';
import { BookWriter } from '../posting/book-writer.js';
import { postEvents } from '../posting/post-events.js';
import { BookHeldError, DeposedError, NoSpaceError, type Queryable } from './database.js';
import { copyFolder } from './pglite-database.js';

describe('the claim on the book', () => {
  let book: TestBook;

  beforeEach(async () => {
    book = await createTestBook();
  });

  afterEach(() => book.remove());

  it('is given once, and again after it was given back', async () => {
    const first = await book.claim();
    await expect(book.claim()).rejects.toBeInstanceOf(BookHeldError);
    const migrations = await first.query('SELECT number, at FROM migrations ORDER BY number');
    await first.close();
    const second = await book.claim();
    // Each ran once.
    expect(await second.query('SELECT number, at FROM migrations ORDER BY number')).toEqual(migrations);
    await second.close();
  });

  it('refuses every write of a bookkeeper that was deposed', async () => {
    const database = await book.claim();
    const deposed = await BookWriter.open(database, 'first');
    const successor = await BookWriter.open(database, 'second');
    expect(successor.epoch).toBe(deposed.epoch + 1);
    const event = deliver(answered(transferId(1)));
    await expect(postEvents(deposed, [event], SELLER)).rejects.toBeInstanceOf(DeposedError);
    expect(await database.query('SELECT id FROM events')).toEqual([]);
    expect(await postEvents(successor, [event], SELLER)).toMatchObject({ bookings: 1 });
    await database.close();
  });

  it('does not open the tables of a later release', async () => {
    const database = await book.claim();
    await database.query('INSERT INTO migrations (number) VALUES (99)');
    await database.close();
    await expect(book.claim()).rejects.toThrow(/later release \(version 99/);
    const opened = 'url' in book.place ? null : book.place.folder;
    // The lock is given back with the refusal.
    if (opened !== null) await expect(book.claim()).rejects.not.toBeInstanceOf(BookHeldError);
  });
});

describe('a book in a folder', () => {
  const book = useTestBook({ isKept: true, create: createTestFolder });

  /** How many rows the planner takes a table to have. */
  async function readEstimate(): Promise<number> {
    const [row] = await book.database.query<{ rows: number }>(
      "SELECT reltuples::bigint AS rows FROM pg_class WHERE oid = 'events'::regclass",
    );
    return row!.rows;
  }

  it('gives the planner statistics when it is opened and as it grows', async () => {
    let number = 0;
    const post = async (events: number): Promise<void> => {
      for (const end = number + events; number < end; number++) {
        await book.post(answered(transferId(number)));
        // As between deliveries of the outbox.
        await nextTurn();
      }
    };
    await post(100);
    const grown = await readEstimate();
    expect(grown).toBeGreaterThan(number / 2);
    expect(grown).toBeLessThanOrEqual(number);
    await book.database.close();
    book.database = await book.place.claim();
    expect(await readEstimate()).toBe(number);
  });

  it.each<[string, (work: (within: Queryable) => Promise<void>) => Promise<void>]>([
    ['of a snapshot', (work) => book.database.snapshot(work)],
    ['of a long snapshot', (work) => book.database.longSnapshot(work)],
  ])('lets other work in before each statement %s', async (_, run) => {
    let [turns, isOver] = [0, false];
    const takeTurns = async (): Promise<void> => {
      for (; !isOver; await nextTurn()) turns += 1;
    };
    const others = takeTurns();
    await run(async (within) => {
      const before = turns;
      for (let page = 0; page < 20; page++) await within.query('SELECT 1');
      expect(turns - before).toBeGreaterThanOrEqual(20);
    });
    isOver = true;
    await others;
  });

  it('is written while a long snapshot is read, which does not see it, and leaves no copy', async () => {
    const { folder } = book.place.place as { folder: string };
    const count = async (within: Queryable): Promise<number> =>
      (await within.query('SELECT FROM event_positions')).length;
    await book.database.longSnapshot(async (within) => {
      expect(readdirSync(folder)).toContain('copy');
      await book.database.transaction((writing) => writing.query("INSERT INTO event_positions VALUES ('a', 1)"));
      expect(await count(within)).toBe(0);
    });
    expect(await count(book.database)).toBe(1);
    expect(readdirSync(folder)).not.toContain('copy');
  });

  it('removes at its start the copy of a process that was killed', async () => {
    const { folder } = book.place.place as { folder: string };
    await book.database.close();
    mkdirSync(join(folder, 'copy', 'base'), { recursive: true });
    book.database = await book.place.claim();
    expect(readdirSync(folder)).not.toContain('copy');
  });

  it('is closed while a long snapshot is read', async () => {
    const read = book.database.longSnapshot(async (within) => {
      await book.database.close();
      await within.query('SELECT 1');
    });
    await expect(read).rejects.toThrow(/closed/);
    book.database = await book.place.claim();
  });

  it('is not copied where the disk would be too full, and says how much is missing', async () => {
    const { folder } = book.place.place as { folder: string };
    const to = join(folder, 'other');
    const copied = copyFolder(join(folder, 'data'), to, 2 ** 60);
    await expect(copied).rejects.toBeInstanceOf(NoSpaceError);
    await expect(copied).rejects.toThrow(
      /^The copy needs \d+ MB on the disk of the book for as long as it is read, and \d+ MB are free\.$/,
    );
    expect(existsSync(to)).toBe(false);
  });
});
