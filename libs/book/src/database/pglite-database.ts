import { existsSync, constants } from 'node:fs';
import { rm, cp, readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { PGlite, type Transaction } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';

import {
  BookUnavailableError,
  SCHEMA,
  type ClaimedDatabase,
  type Queryable,
  type SqlValue,
  NoSpaceError,
} from './database.js';
import { DURABLE_START, DurableFolder, syncFolder } from './durable-folder.js';
import { lockFolder } from './folder-lock.js';
import { InTurn } from './in-turn.js';

const INT8 = 20;
const OPTIONS = { parsers: { [INT8]: Number } };
const IN_SCHEMA = `SET search_path TO ${SCHEMA}`;
/** For a copy, which is read once from its beginning to its end. */
const COPY_START = [...PGlite.defaultStartParams, '-c', 'shared_buffers=8MB'];

/**
 * PostgreSQL in this process, with its data in a folder. One connection: reads and writes take turns.
 * @throws BookHeldError when another process has the folder open
 */
export async function openFolder(folder: string): Promise<ClaimedDatabase> {
  const unlock = lockFolder(folder);
  try {
    return await openPglite(folder, unlock);
  } catch (error) {
    unlock();
    throw error;
  }
}

async function openPglite(folder: string, unlock: () => void): Promise<ClaimedDatabase> {
  const place = { data: join(folder, 'data'), copy: join(folder, 'copy') };
  const isNew = !existsSync(join(place.data, 'PG_VERSION'));
  const pglite = await PGlite.create({ ...OPTIONS, fs: new DurableFolder(place.data), startParams: DURABLE_START });
  if (isNew) syncFolder(place.data);
  await pglite.exec(`CREATE SCHEMA IF NOT EXISTS ${SCHEMA}; ${IN_SCHEMA}`);
  // Of a process that was killed.
  await rm(place.copy, { recursive: true, force: true });
  return new PgliteDatabase(pglite, place, unlock);
}

/** Statistics are gathered after so many transactions, and then each time that their number has doubled. */
const FIRST_ANALYSIS = 64;

class PgliteDatabase implements ClaimedDatabase {
  readonly kind = 'pglite';
  /** Only this process has the folder open, so the claim is lost with the process alone. */
  readonly lost = new Promise<string>(() => undefined);
  readonly #copies = new InTurn();
  #isClosed = false;
  #transactions = 0;
  #nextAnalysis = FIRST_ANALYSIS;

  constructor(
    private readonly pglite: PGlite,
    private readonly place: { data: string; copy: string },
    private readonly unlock: () => void,
  ) {}

  query<Row extends object>(sql: string, values?: readonly SqlValue[]): Promise<Row[]> {
    return run<Row>(this.pglite, sql, values);
  }

  async transaction<T>(work: (within: Queryable) => Promise<T>): Promise<T> {
    const result = await this.pglite.transaction((transaction) => work(within(transaction, run)));
    if (++this.#transactions >= this.#nextAnalysis) {
      this.#nextAnalysis = 2 * this.#transactions;
      // Without statistics plans are worse, and nothing else.
      gatherStatistics(this).catch(() => undefined);
    }
    return result;
  }

  snapshot<T>(work: (within: Queryable) => Promise<T>): Promise<T> {
    return this.pglite.transaction((transaction) => work(within(transaction, runInTurn)));
  }

  /** Reads a copy of the folder, which is there as long as the work takes. Writes wait while the files are copied. */
  longSnapshot<T>(work: (within: Queryable) => Promise<T>): Promise<T> {
    return this.#copies.run(async () => {
      const { data, copy } = this.place;
      try {
        // So that the copy has nothing to recover.
        await this.pglite.exec('CHECKPOINT');
        await this.pglite.transaction(() => copyFolder(data, copy));
        return await readCopy(copy, (read) =>
          work({
            query: (sql, values) => {
              if (this.#isClosed) throw new BookUnavailableError('The book was closed while a copy of it was read.');
              return read.query(sql, values);
            },
          }),
        );
      } finally {
        await rm(copy, { recursive: true, force: true });
      }
    });
  }

  async execute(sql: string): Promise<void> {
    await this.pglite.exec(sql);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.pglite.close();
    this.unlock();
  }
}

/**
 * What a server's autovacuum does. A table at a time and from a small sample, since nothing else is done meanwhile: with
 * 60,000 payments and PostgreSQL's own sample of 30,000 rows it took more than a second. No disk is waited for: statistics
 * that are lost are gathered again.
 */
export async function gatherStatistics(database: Pick<ClaimedDatabase, 'query' | 'execute'>): Promise<void> {
  const tables = await database.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
      WHERE relnamespace = $1::regnamespace AND relkind = 'r' AND pg_relation_size(oid) > 0 ORDER BY oid`,
    [SCHEMA],
  );
  const settings = 'SET LOCAL synchronous_commit = off; SET LOCAL default_statistics_target = 10';
  for (const { name } of tables) {
    await nextTurn();
    await database.execute(`BEGIN; ${settings}; ANALYZE ${name}; COMMIT`);
  }
}

async function readCopy<T>(folder: string, work: (within: Queryable) => Promise<T>): Promise<T> {
  const copy = await PGlite.create({ ...OPTIONS, fs: new NodeFS(folder), startParams: COPY_START });
  try {
    await copy.exec(IN_SCHEMA);
    return await copy.transaction((transaction) => work(within(transaction, runInTurn)));
  } finally {
    await copy.close();
  }
}

type Asked = Pick<Transaction, 'query'>;

async function run<Row extends object>(asked: Asked, sql: string, values: readonly SqlValue[] = []): Promise<Row[]> {
  return (await asked.query<Row>(sql, [...values])).rows;
}

/**
 * A statement keeps this thread to itself: timers, requests and the work of others come before the next one. Not for what is
 * written, whose statements are short and many: turns between them halved the events that are booked in a second.
 */
async function runInTurn<Row extends object>(asked: Asked, sql: string, values?: readonly SqlValue[]): Promise<Row[]> {
  await nextTurn();
  return run<Row>(asked, sql, values);
}

function within(transaction: Transaction, ask: typeof run): Queryable {
  return {
    query: <Row extends object>(sql: string, values?: readonly SqlValue[]) => ask<Row>(transaction, sql, values),
  };
}

const MEGABYTE = 1_048_576;
/** What stays free beside a copy, so that the book itself can be written. */
const LEFT_FREE = 64 * MEGABYTE;

/**
 * Copies a folder with all that is in it; where the file system shares blocks between files, at once.
 * @throws NoSpaceError before anything is written
 */
export async function copyFolder(from: string, to: string, leftFree = LEFT_FREE): Promise<void> {
  const entries = await readdir(from, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory());
  const sizes = await Promise.all(files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size));
  const needed = sizes.reduce((sum, size) => sum + size, leftFree);
  const { bavail, bsize } = await statfs(from);
  if (bavail * bsize < needed) throw new NoSpaceError(sayWhatIsMissing(needed, bavail * bsize));
  await rm(to, { recursive: true, force: true });
  await cp(from, to, { recursive: true, mode: constants.COPYFILE_FICLONE });
}

function sayWhatIsMissing(needed: number, free: number): string {
  const [needs, has] = [needed, free].map((bytes) => Math.ceil(bytes / MEGABYTE));
  return `The copy needs ${needs} MB on the disk of the book for as long as it is read, and ${has} MB are free.`;
}
