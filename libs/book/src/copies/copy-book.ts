import { createHash } from 'node:crypto';

import { SCHEMA, type ClaimedDatabase, type Queryable } from '../database/database.js';

/** The first line of a copy. */
export interface CopyHeader {
  readonly tollgateBook: 1;
  /** When it was made; the copy has what was written to the book before. */
  readonly at: string;
  /** The numbers of the migrations that its tables had. */
  readonly migrations: readonly number[];
  readonly lastBooking: number;
  readonly lastEntry: number;
  readonly chainHash: string;
}

/** The last line: the number of rows, and the SHA-256 of all lines before. */
export interface CopyEnd {
  readonly rows: number;
  readonly sha256: string;
}

const PAGE = 1_000;

/**
 * Writes everything in the book, as it is at one moment, in lines of JSON: a header, each row as `[table, columns]`, and
 * the end. The same on a server and in a folder, so that one can be restored into the other.
 * @param write takes a part of the text, and resolves when it wants more
 */
export function copyBook(database: ClaimedDatabase, write: (text: string) => Promise<void>): Promise<CopyEnd> {
  return database.longSnapshot(async (within) => {
    const hash = createHash('sha256');
    let rows = 0;
    const add = async (lines: readonly string[]): Promise<void> => {
      const text = lines.map((line) => `${line}\n`).join('');
      hash.update(text);
      await write(text);
    };
    await add([JSON.stringify(await readHeader(within))]);
    for (const table of await listTables(within)) {
      await within.query(`DECLARE copied NO SCROLL CURSOR FOR SELECT to_jsonb(t)::text AS line FROM ${table} t`);
      for (;;) {
        const page = await within.query<{ line: string }>(`FETCH ${PAGE} FROM copied`);
        if (page.length === 0) break;
        await add(page.map(({ line }) => `[${JSON.stringify(table)},${line}]`));
        rows += page.length;
      }
      await within.query('CLOSE copied');
    }
    const end: CopyEnd = { rows, sha256: hash.digest('hex') };
    await write(`${JSON.stringify(end)}\n`);
    return end;
  });
}

/** The tables whose rows are copied; one that refers to others comes after them. */
export async function listTables(within: Queryable): Promise<string[]> {
  const tables = await within.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
      WHERE relnamespace = $1::regnamespace AND relkind = 'r' AND relname NOT IN ('bookkeeper', 'migrations')
      ORDER BY (SELECT count(*) FROM pg_constraint WHERE conrelid = pg_class.oid AND contype = 'f'), relname`,
    [SCHEMA],
  );
  return tables.map(({ name }) => name);
}

async function readHeader(within: Queryable): Promise<CopyHeader> {
  const [row] = await within.query<Omit<CopyHeader, 'tollgateBook' | 'migrations'>>(
    `SELECT last_booking AS "lastBooking", last_entry AS "lastEntry", chain_hash AS "chainHash",
      to_jsonb(now()) #>> '{}' AS at FROM bookkeeper`,
  );
  if (row === undefined) throw new Error('The book has no row of its bookkeeper: its tables are damaged.');
  return { tollgateBook: 1, migrations: await readMigrations(within), ...row };
}

export async function readMigrations(within: Queryable): Promise<number[]> {
  const rows = await within.query<{ number: number }>('SELECT number FROM migrations ORDER BY number');
  return rows.map(({ number }) => number);
}
