import { createHash } from 'node:crypto';

import { isRecord } from '@tollgate/protocol';

import { isRefusedForGood, type Queryable } from '../database/database.js';
import { skipEventNumbers } from '../events/outgoing-event.js';
import type { BookWriter } from '../posting/book-writer.js';
import { listTables, readMigrations, type CopyEnd, type CopyHeader } from './copy-book.js';

/** The file is no copy of a book, is damaged or of a broken book, or has other tables. Nothing was written. */
export class CopyRefusedError extends Error {
  override readonly name = 'CopyRefusedError';
}

const BATCH = 500;
/** A book has rows of these once it was used; nothing removes them. */
const APPEND_ONLY = ['bookings', 'entries', 'closings', 'audit'];

type Row = readonly [table: string, columns: Readonly<Record<string, unknown>>];

/**
 * Writes a copy into a book without events and without acts of operators, in one transaction, and notes that the book may
 * lack what was written after the copy. Null: the book is not empty, and stays as it is.
 * @param lines of the copy, without their ends
 * @throws CopyRefusedError, DeposedError, BookUnavailableError; then nothing is written
 */
export function restoreBook(writer: BookWriter, lines: AsyncIterable<string>): Promise<CopyHeader | null> {
  const restored = writer.write(async (within) => {
    const [state] = await within.query<{ used: boolean }>(
      'SELECT last_booking > 0 OR EXISTS (SELECT FROM events) OR EXISTS (SELECT FROM audit) AS used FROM bookkeeper',
    );
    if (state?.used !== false) return null;
    const tables = await listTables(within);
    // A bookkeeper that has opened the book has noted where it is in streams and chain: the copy says that itself.
    for (const table of tables.filter((name) => !APPEND_ONLY.includes(name)).reverse()) {
      await within.query(`DELETE FROM ${table}`);
    }
    const target = new Target(within, tables);
    const header = await readCopy(lines, target, await readMigrations(within));
    await target.flush();
    await within.query('UPDATE bookkeeper SET last_booking = $1, last_entry = $2, chain_hash = $3', [
      ...[header.lastBooking, header.lastEntry, header.chainHash],
    ]);
    await continueNumbers(within);
    await skipEventNumbers(within);
    await within.query('INSERT INTO gaps (since) VALUES ($1)', [header.at]);
    return header;
    // Each booking and entry is checked at the commit: a minute for a million bookings.
  }, true);
  return restored.catch((error: unknown) => {
    if (!isRefusedForGood(error)) throw error;
    const detail = 'The copy is damaged, or the book that was copied was broken';
    throw new CopyRefusedError(`${detail}: ${error.message}.`, { cause: error });
  });
}

/** Hands over all rows, and checks that the copy is whole, and of tables with these migrations. */
async function readCopy(
  lines: AsyncIterable<string>,
  target: Target,
  migrations: readonly number[],
): Promise<CopyHeader> {
  const hash = createHash('sha256');
  let header: CopyHeader | null = null;
  let [rows, end]: [number, CopyEnd | null] = [0, null];
  for await (const line of lines) {
    if (end !== null) throw new CopyRefusedError('The copy goes on after its end.');
    const value = parse(line);
    if (header === null) {
      header = parseHeader(value);
      if (header.migrations.join() !== migrations.join()) {
        throw new CopyRefusedError('The copy was made by a release with other tables. Restore it with that release.');
      }
    } else if (isRow(value)) {
      await target.add(value, line);
      rows += 1;
    } else end = value as CopyEnd;
    if (end === null) hash.update(`${line}\n`);
  }
  if (header === null) throw new CopyRefusedError('This is no copy of a book.');
  if (end === null) throw new CopyRefusedError('The copy has no end: it was broken off.');
  if (end.rows !== rows || end.sha256 !== hash.digest('hex')) throw new CopyRefusedError('The copy is damaged.');
  return header;
}

/** Writes rows of one table together. */
class Target {
  #table = '';
  #columns: string[] = [];
  #rows: string[] = [];

  constructor(
    private readonly within: Queryable,
    private readonly tables: readonly string[],
  ) {}

  /** @param line what the row was parsed from */
  async add([table, columns]: Row, line: string): Promise<void> {
    if (table !== this.#table || this.#rows.length >= BATCH) await this.flush();
    if (this.#rows.length === 0) [this.#table, this.#columns] = [table, Object.keys(columns)];
    // As text: a parsed amount above 2^53 has lost digits.
    this.#rows.push(line.slice(line.indexOf(',') + 1, -1));
  }

  async flush(): Promise<void> {
    if (this.#rows.length === 0) return;
    if (!this.tables.includes(this.#table) || !this.#columns.every((name) => /^[a-z_]+$/.test(name))) {
      throw new CopyRefusedError(`The copy has a table that this release does not know: ${this.#table.slice(0, 60)}.`);
    }
    const names = this.#columns.map((name) => `"${name}"`).join(', ');
    await this.within.query(
      `INSERT INTO ${this.#table} (${names}) OVERRIDING SYSTEM VALUE
        SELECT ${names} FROM jsonb_populate_recordset(NULL::${this.#table}, $1::jsonb)`,
      [`[${this.#rows.join(',')}]`],
    );
    this.#rows = [];
  }
}

/** Numbers that the database gives go on after those of the copy. */
async function continueNumbers(within: Queryable): Promise<void> {
  const columns = await within.query<{ table: string; column: string }>(
    `SELECT table_name AS table, column_name AS column FROM information_schema.columns
      WHERE table_schema = current_schema() AND is_identity = 'YES'`,
  );
  for (const { table, column } of columns) {
    await within.query(
      `SELECT setval(pg_get_serial_sequence('${table}', '${column}'), max("${column}")) FROM ${table}`,
    );
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new CopyRefusedError('The copy is damaged.');
  }
}

function parseHeader(value: unknown): CopyHeader {
  if (!isRecord(value) || value['tollgateBook'] !== 1 || !Array.isArray(value['migrations'])) {
    throw new CopyRefusedError('This is no copy of a book, or one of a later format.');
  }
  // Written by `copyBook`; the checksum tells whether it is as it was.
  return value as unknown as CopyHeader;
}

function isRow(value: unknown): value is Row {
  return Array.isArray(value) && typeof value[0] === 'string' && isRecord(value[1]);
}
