import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { PGlite, type Transaction } from '@electric-sql/pglite';

import { SCHEMA, type ClaimedDatabase, type Queryable, type SqlValue } from './database.js';
import { DURABLE_START, DurableFolder, syncFolder } from './durable-folder.js';
import { lockFolder } from './folder-lock.js';

const INT8 = 20;

/**
 * PostgreSQL in this process, with its data in a folder. One connection: reads and writes take turns.
 * @throws BookHeldError when another process has the folder open
 */
export async function openFolder(folder: string): Promise<ClaimedDatabase> {
  const unlock = lockFolder(folder);
  try {
    return await openPglite(join(folder, 'data'), unlock);
  } catch (error) {
    unlock();
    throw error;
  }
}

async function openPglite(dataDir: string, unlock: () => void): Promise<ClaimedDatabase> {
  const isNew = !existsSync(join(dataDir, 'PG_VERSION'));
  const pglite = await PGlite.create({
    ...{ fs: new DurableFolder(dataDir), startParams: DURABLE_START, parsers: { [INT8]: Number } },
  });
  if (isNew) syncFolder(dataDir);
  await pglite.exec(`CREATE SCHEMA IF NOT EXISTS ${SCHEMA}; SET search_path TO ${SCHEMA}`);
  return new PgliteDatabase(pglite, async () => {
    await pglite.close();
    unlock();
  });
}

class PgliteDatabase implements ClaimedDatabase {
  readonly kind = 'pglite';
  /** Only this process has the folder open, so the claim is lost with the process alone. */
  readonly lost = new Promise<string>(() => undefined);

  constructor(
    private readonly pglite: PGlite,
    readonly close: () => Promise<void>,
  ) {}

  async query<Row extends object>(sql: string, values: readonly SqlValue[] = []): Promise<Row[]> {
    return (await this.pglite.query<Row>(sql, [...values])).rows;
  }

  transaction<T>(work: (within: Queryable) => Promise<T>): Promise<T> {
    return this.pglite.transaction((transaction) => work(within(transaction)));
  }

  snapshot<T>(work: (within: Queryable) => Promise<T>): Promise<T> {
    return this.transaction(work);
  }

  async execute(sql: string): Promise<void> {
    await this.pglite.exec(sql);
  }
}

function within(transaction: Transaction): Queryable {
  return {
    query: async <Row extends object>(sql: string, values: readonly SqlValue[] = []) =>
      (await transaction.query<Row>(sql, [...values])).rows,
  };
}
