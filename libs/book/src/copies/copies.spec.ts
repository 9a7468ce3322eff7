import { hash } from 'node:crypto';

import { createPreimageSigner } from '@tollgate/crypto';

import { createTestBook, type TestBook } from '../../test/create-test-book.js';
import { emptyBook } from '../../test/empty-book.js';
import {
  ASSET,
  answered,
  authorizationId,
  deliver,
  PAY_TO,
  refunding,
  refused,
  SELLER,
  settled,
  transferId,
} from '../../test/sample-events.js';
import { closeBook } from '../closing/close-book.js';
import type { ClaimedDatabase } from '../database/database.js';
import { readEventPosition, readEventRange } from '../delivery/read-events.js';
import { BookWriter } from '../posting/book-writer.js';
import { postEvents } from '../posting/post-events.js';
import { recordAct } from '../posting/record-act.js';
import { notePositions } from '../posting/stream-positions.js';
import { verifyBook } from '../reading/verify-book.js';
import { beginAt } from '../reconcile/store-transfers.js';
import { copyBook, listTables, type CopyHeader } from './copy-book.js';
import { CopyRefusedError, restoreBook } from './restore-book.js';

interface OpenBook {
  book: TestBook;
  database: ClaimedDatabase;
  writer: BookWriter;
}

describe('a copy of the book', () => {
  const open: OpenBook[] = [];
  let original: OpenBook;
  /** The book that each test writes to, new for each. */
  let other: OpenBook;
  let lines: string[];

  async function openBook(): Promise<OpenBook> {
    const book = await createTestBook();
    const database = await book.claim();
    const opened = { book, database, writer: await BookWriter.open(database, 'spec') };
    open.push(opened);
    return opened;
  }

  beforeAll(async () => {
    original = await openBook();
    other = await openBook();
    const { writer, database } = original;
    const sold = Array.from({ length: 30 }, (_, index) => deliver(answered(transferId(index + 1))));
    // Above 2^53: a token of 18 decimals, and the gas of a large batch in wei.
    const precise = deliver(answered(transferId(31), { amount: '12345678901234567891' }));
    const batch = settled([authorizationId(1)], { gasUsed: '1000037', effectiveGasPrice: '20123456789' });
    await postEvents(writer, [...sold, precise, deliver(refused(transferId(99))), deliver(batch)], SELLER);
    await closeBook(writer, createPreimageSigner(`0x${'22'.repeat(32)}`)!, { untilMs: Date.now() + 1 });
    await recordAct(
      writer,
      { keyId: 'key', action: 'close', subject: 'book', requestId: 'r', details: { é: '"' } },
      { mostPerDay: 0 },
    );
    await noteOpening(writer);
    let text = '';
    await copyBook(database, (part) => Promise.resolve(void (text += part)));
    lines = text.trimEnd().split('\n');
  });

  beforeEach(async () => {
    await emptyBook(other.database);
    other.writer = await BookWriter.open(other.database, 'spec');
  });

  afterAll(async () => {
    for (const { database, book } of open) {
      await database.close();
      await book.remove();
    }
  });

  /** What a bookkeeper notes in a book as soon as it has opened it. */
  async function noteOpening(writer: BookWriter): Promise<void> {
    await readEventPosition(writer, 'nest-events');
    await beginAt(writer, { chainId: 1328, asset: ASSET, recipient: PAY_TO }, 7);
  }

  async function* read(these: readonly string[]): AsyncGenerator<string> {
    yield* these;
  }

  async function dump(database: ClaimedDatabase): Promise<Record<string, string[]>> {
    const tables = (await listTables(database)).filter((table) => table !== 'gaps');
    const rows = await Promise.all(
      tables.map(async (table): Promise<[string, string[]]> => {
        const found = await database.query<{ line: string }>(`SELECT to_jsonb(t)::text AS line FROM ${table} t`);
        return [table, found.map(({ line }) => line).sort()];
      }),
    );
    return Object.fromEntries(rows);
  }

  it('has every row, and a restored book goes on where it ended', async () => {
    const { database, writer } = other;
    expect(await restoreBook(writer, read(lines))).toMatchObject({ tollgateBook: 1 });
    expect(await dump(database)).toEqual(await dump(original.database));
    expect(await verifyBook(database, [])).toEqual(await verifyBook(original.database, []));

    await postEvents(writer, [deliver(answered(transferId(500)))], SELLER);
    await recordAct(
      writer,
      { keyId: 'key', action: 'close', subject: 'book', requestId: 'r2', details: {} },
      { mostPerDay: 0 },
    );
    expect(await verifyBook(database, [])).toMatchObject({ broken: null });
    const [copied] = await database.query<{ since: Date; at: string }>('SELECT since, until FROM gaps');
    expect(copied!.since.toISOString().slice(0, 19)).toBe(
      new Date((JSON.parse(lines[0]!) as { at: string }).at).toISOString().slice(0, 19),
    );
  });

  it('has each row as it was at the start, while payments come and change', async () => {
    const { writer, database } = other;
    await restoreBook(writer, read(lines));
    const before = await dump(database);
    let [number, text] = [600, ''];
    await copyBook(database, async (part) => {
      text += part;
      // Neither waits for the other: each part is written after a payment that came and one that changed.
      await postEvents(writer, [deliver(answered(transferId(number))), deliver(refunding(transferId(1)))], SELLER);
      number += 1;
    });
    expect((await dump(database))['payments']).toHaveLength(before['payments']!.length + number - 600);
    const rows = text.trimEnd().split('\n').slice(1, -1);
    const copied = Object.keys(before).map((table): [string, string[]] => {
      const start = `["${table}",`;
      const own = rows.filter((row) => row.startsWith(start));
      return [table, own.map((row) => row.slice(start.length, -1)).sort()];
    });
    expect(Object.fromEntries(copied)).toEqual(before);
  });

  it('is written over what a bookkeeper has noted that opened the empty book', async () => {
    const { writer, database } = other;
    await noteOpening(writer);
    // Another book has read an event.
    expect(await notePositions(writer, [deliver(answered(transferId(900)))], 0)).not.toBeNull();
    expect(await restoreBook(writer, read(lines))).not.toBeNull();
    expect(await dump(database)).toEqual(await dump(original.database));
    expect(await database.query('SELECT FROM gaps')).toHaveLength(1);
  });

  it('gives no event a number that a lost book had given', async () => {
    const readNewest = async () => (await readEventRange(other.database)).newest;
    await restoreBook(other.writer, read(lines));
    await postEvents(other.writer, [deliver(answered(transferId(500)))], SELLER);
    const lost = await readNewest();
    await emptyBook(other.database);
    other.writer = await BookWriter.open(other.database, 'spec');
    await restoreBook(other.writer, read(lines));
    await postEvents(other.writer, [deliver(answered(transferId(501)))], SELLER);
    expect(await readNewest()).toBeGreaterThan(lost);
  });

  function asCopy(header: CopyHeader, rows: readonly string[]): string[] {
    const whole = [JSON.stringify(header), ...rows];
    const sha256 = hash('sha256', whole.map((line) => `${line}\n`).join(''), 'hex');
    return [...whole, JSON.stringify({ rows: rows.length, sha256 })];
  }

  /** The copy of a book of whose entries one was changed behind the triggers. */
  function withEntry(found: string, changed: string): string[] {
    const at = lines.findIndex((line) => line.startsWith('["entries"') && line.includes(found));
    const rows = lines.with(at, lines[at]!.replace(found, changed)).slice(1, -1);
    return asCopy(JSON.parse(lines[0]!) as CopyHeader, rows);
  }

  it('of a broken book is restored as it is', async () => {
    const { writer, database } = other;
    await restoreBook(writer, read(withEntry('"revenue:', '"rent:')));
    const { broken } = await verifyBook(database, []);
    expect(broken).toMatch(/^Entry \d+ of booking 1: its account is rent:.*, and was booked as revenue:/);
  });

  it('of a book that does not balance is refused', async () => {
    const unbalanced = restoreBook(other.writer, read(withEntry('"amount": -10000', '"amount": -9999')));
    await expect(unbalanced).rejects.toBeInstanceOf(CopyRefusedError);
    await expect(unbalanced).rejects.toThrow(/the book that was copied was broken: booking 1 is not complete/);
  });

  it.each([{ migrations: [1, 2] }, { migrations: [] }])(
    'of a release with the migrations $migrations is refused',
    async (of) => {
      const copy = asCopy({ ...(JSON.parse(lines[0]!) as CopyHeader), ...of }, lines.slice(1, -1));
      const before = await dump(other.database);
      const restored = restoreBook(other.writer, read(copy));
      await expect(restored).rejects.toBeInstanceOf(CopyRefusedError);
      await expect(restored).rejects.toThrow('The copy was made by a release with other tables.');
      expect(await dump(other.database)).toEqual(before);
    },
  );

  it('is not written over a book in which an operator has acted', async () => {
    const { writer, database } = other;
    const act = { keyId: 'key', action: 'close', subject: 'book', requestId: 'r', details: {} };
    await recordAct(writer, act, { mostPerDay: 0 });
    const before = await dump(database);
    expect(await restoreBook(writer, read(lines))).toBeNull();
    expect(await dump(database)).toEqual(before);
  });

  it('is not written over a book that has something', async () => {
    const { writer, database } = other;
    await postEvents(writer, [deliver(answered(transferId(7)))], SELLER);
    const before = await dump(database);
    expect(await restoreBook(writer, read(lines))).toBeNull();
    expect(await dump(database)).toEqual(before);
  });

  it.each<[string, (these: string[]) => string[]]>([
    ['empty', () => []],
    ['something else', () => ['{"version":1}']],
    ['no JSON', () => ['PK\u0003\u0004']],
    ['broken off', (these) => these.slice(0, -1)],
    ['without a row', (these) => these.toSpliced(3, 1)],
    ['changed', (these) => these.map((line) => line.replace('"10000"', '"10001"'))],
    ['longer', (these) => [...these, these[3]!]],
    ['of another program', (these) => [these[0]!, '["pg_class",{"relname":"x"}]', ...these.slice(1)]],
  ])('is refused when it is %s, and nothing is written', async (_, change) => {
    const { writer, database } = other;
    const before = await dump(database);
    await expect(restoreBook(writer, read(change(lines)))).rejects.toBeInstanceOf(CopyRefusedError);
    expect(await dump(database)).toEqual(before);
  });
});
