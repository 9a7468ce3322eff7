import { hash } from 'node:crypto';

import { createPreimageSigner, type PreimageSigner } from '@tollgate/crypto';

import { answered, transferId } from '../../test/sample-events.js';
import { useTestBook } from '../../test/use-test-book.js';
import { DeposedError, type ClaimedDatabase } from '../database/database.js';
import { BookWriter } from '../posting/book-writer.js';
import { readClosings } from '../reading/read-closings.js';
import { closeBook } from './close-book.js';
import { MerkleTree } from './merkle.js';
import { checkProof } from './payment-proof.js';
import { provePayment } from './prove-payment.js';

const signer = createPreimageSigner(`0x${'11'.repeat(32)}`) as PreimageSigner;
const DAY = '2026-11-20';
/** More than two pages. */
const SOME = 5_000;
const MANY = 30_000;

const contentOf = (id: number): string =>
  `{"id":${id},"kind":"payment","payment":"payment-${id}","facts":{},"entries":[]}`;

/**
 * The most processor time between two turns of the event loop, as a share of all until it is read. Unlike a clock's time,
 * it is the same on a busy machine.
 */
function watchTurns(): () => number {
  const turns: number[] = [];
  let before = process.cpuUsage();
  const note = () => {
    const { user, system } = process.cpuUsage(before);
    turns.push(user + system);
    before = process.cpuUsage();
  };
  const timer = setInterval(note, 1);
  return () => {
    clearInterval(timer);
    note();
    return Math.max(...turns) / turns.reduce((sum, micros) => sum + micros);
  };
}

describe('closing a day of many bookings', () => {
  const book = useTestBook();

  /** Bookings of one day, without what no closing reads: entries, and a chain of true hashes. */
  async function fill(bookings: number): Promise<void> {
    const content = `'${contentOf(0).replaceAll('-0"', `-' || id || '"`).replace(':0,', `:' || id || ',`)}'`;
    await book.database.execute(`
      ALTER TABLE bookings DISABLE TRIGGER bookings_balance;
      INSERT INTO bookings (id, content, kind, payment, booked_at, content_hash, chain_hash)
        SELECT id, content, 'payment', 'payment-' || id, '${DAY}T10:00:00Z',
          encode(sha256(content::bytea), 'hex'), encode(sha256(id::text::bytea), 'hex')
        FROM (SELECT id, ${content} AS content FROM generate_series(1, ${bookings}) AS id) AS made;
      ALTER TABLE bookings ENABLE TRIGGER bookings_balance;
      UPDATE bookkeeper SET last_booking = ${bookings}, chain_hash = encode(sha256('${bookings}'), 'hex')`);
  }

  /** A writer of this book that reads through `see`: it gets the rows of each page, and may do something before. */
  function writerThatReads(see: (page: Row[], number: number) => Promise<Row[]>): Promise<BookWriter> {
    let pages = 0;
    const watched: ClaimedDatabase = {
      kind: book.database.kind,
      lost: book.database.lost,
      query: async <R extends object>(...[sql, values]: Parameters<ClaimedDatabase['query']>) => {
        const rows = await book.database.query<R>(sql, values);
        return sql.includes('content_hash') ? ((await see(rows as Row[], ++pages)) as R[]) : rows;
      },
      transaction: (work, isLong) => book.database.transaction(work, isLong),
      snapshot: (work) => book.database.snapshot(work),
      longSnapshot: (work) => book.database.longSnapshot(work),
      execute: (sql) => book.database.execute(sql),
      close: () => book.database.close(),
    };
    return BookWriter.open(watched, 'spec');
  }

  it('holds up neither what is booked meanwhile nor the process', async () => {
    await fill(MANY);
    await book.database.query(
      `INSERT INTO payments (id, state, at, reported, request_salt) VALUES ('payment-20001', 'answered', now(), '{}', '')`,
    );
    const readLongestTurn = watchTurns();
    const closing = closeBook(book.writer, signer);
    await book.post(answered(transferId(1)));
    expect(await readClosings(book.database, 9)).toEqual([]);
    const [closed, ...others] = await closing;
    expect(readLongestTurn()).toBeLessThan(0.8);

    const tree = new MerkleTree();
    for (let id = 1; id <= MANY; id++) tree.add(hash('sha256', contentOf(id), 'hex'));
    expect(closed!.content).toEqual({
      version: 1,
      number: 1,
      day: DAY,
      firstBooking: 1,
      lastBooking: MANY,
      previous: null,
      root: tree.root(),
      chainHash: hash('sha256', String(MANY), 'hex'),
    });
    expect(others).toEqual([]);
    const proof = await provePayment(book.database, 'payment-20001');
    expect(checkProof(proof, { key: signer.address }).bookings).toMatchObject([{ booking: 20_001, day: DAY }]);
  });

  it('stores nothing once another bookkeeper has taken over', async () => {
    await fill(SOME);
    const deposed = await writerThatReads(async (page, number) => {
      if (number === 2) await BookWriter.open(book.database, 'successor');
      return page;
    });
    await expect(closeBook(deposed, signer)).rejects.toBeInstanceOf(DeposedError);
    expect(await readClosings(book.database, 9)).toEqual([]);
  });

  it('leaves a day to another closing that was faster', async () => {
    await fill(SOME);
    const slower = await writerThatReads(async (page, number) => {
      if (number === 2) expect(await closeBook(slower, signer)).toHaveLength(1);
      return page;
    });
    expect(await closeBook(slower, signer)).toEqual([]);
    expect((await readClosings(book.database, 9)).map(({ content }) => content.lastBooking)).toEqual([SOME]);
  });

  it('stores nothing about bookings that the writer does not have', async () => {
    await fill(SOME);
    const elsewhere = await writerThatReads((page) =>
      Promise.resolve(page.map((row) => ({ ...row, chain_hash: hash('sha256', 'another', 'hex') }))),
    );
    await expect(closeBook(elsewhere, signer)).rejects.toThrow('another one to the connection that writes');
    expect(await readClosings(book.database, 9)).toEqual([]);
  });

  it('ends between two pages when it is told to', async () => {
    await fill(SOME);
    const ending = new AbortController();
    let read = 0;
    const writes = await writerThatReads((page, number) => {
      read = number;
      ending.abort();
      return Promise.resolve(page);
    });
    await expect(closeBook(writes, signer, { signal: ending.signal })).rejects.toThrow('aborted');
    expect(read).toBe(1);
    expect(await readClosings(book.database, 9)).toEqual([]);
  });
});

type Row = { chain_hash: string };
