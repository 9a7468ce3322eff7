import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

import { Client } from 'pg';

import { copyBook } from '../../libs/book/src/copies/copy-book.js';
import { restoreBook } from '../../libs/book/src/copies/restore-book.js';
import { claimBook } from '../../libs/book/src/database/claim-book.js';
import { BookUnavailableError, type ClaimedDatabase } from '../../libs/book/src/database/database.js';
import { BookWriter } from '../../libs/book/src/posting/book-writer.js';
import { postEvents } from '../../libs/book/src/posting/post-events.js';
import { verifyBook } from '../../libs/book/src/reading/verify-book.js';
import { createTestBook } from '../../libs/book/test/create-test-book.js';
import { answered, deliver, SELLER, transferId } from '../../libs/book/test/sample-events.js';
import { startPostgres, type PostgresServer } from '../../tools/devnet/processes/postgres.js';
import { startTcpProxy } from '../harness/network/tcp-proxy.js';
import { waitFor } from '../harness/retry.js';

const BATCH = 20;
/** More than a file of PostgreSQL's log, which it makes at its whole size. */
const LARGEST_FILE = 17 * 1024 * 1024;
/** Far more than fits into files of that size. */
const MOST_BATCHES = 1_000;

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

  it('whose disk is full takes no batch in part, and goes on when there is room', async () => {
    server.limitFiles(LARGEST_FILE);
    const database = await claimSoon();
    const writer = await BookWriter.open(database, 'spec');
    const before = await verifyBook(database, []);
    const post = (batch: number) => {
      const events = Array.from({ length: BATCH }, (_, index) =>
        deliver(
          answered(transferId(100_000 + batch * BATCH + index), { requestHash: randomBytes(4_000).toString('hex') }),
        ),
      );
      return postEvents(writer, events, SELLER);
    };
    let written = 0;
    await expect(
      (async () => {
        for (; written < MOST_BATCHES; written++) await post(written);
      })(),
    ).rejects.toThrow(BookUnavailableError);
    expect(await verifyBook(database, [])).toMatchObject({ broken: null, bookings: before.bookings + written * BATCH });

    server.limitFiles(null);
    await post(written);
    const bookings = before.bookings + (written + 1) * BATCH;
    expect(await verifyBook(database, [])).toMatchObject({ broken: null, bookings });
    await database.close();
  });

  it('that ends the session of a snapshot fails that one alone, also while it has no query', async () => {
    const database = await claimSoon();
    const inQuery = database.snapshot((within) =>
      within.query('SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(60)'),
    );
    await expect(inQuery).rejects.toThrow(BookUnavailableError);
    const between = database.snapshot(async (within) => {
      const [session] = await within.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      await database.query('SELECT pg_terminate_backend($1, 10000)', [session!.pid]);
      await waitFor('its connection has ended', () =>
        within.query('SELECT').then(
          () => false,
          () => true,
        ),
      );
    });
    await expect(between).rejects.toThrow(BookUnavailableError);
    expect(await database.snapshot((within) => within.query('SELECT 1 AS one'))).toEqual([{ one: 1 }]);
    await database.close();
  });

  it('that ends the session which writes is claimed anew, also while a backup waits for its reader', async () => {
    const database = await claimSoon();
    let goOn: () => void = () => undefined;
    const reader = new Promise<void>((resolve) => (goOn = resolve));
    let started: () => void = () => undefined;
    const starting = new Promise<void>((resolve) => (started = resolve));
    const backup = database.snapshot(async (within) => {
      await within.query('SELECT');
      started();
      await reader;
    });
    const ended = expect(backup).rejects.toThrow(BookUnavailableError);
    await starting;
    await database
      .transaction((within) => within.query('SELECT pg_terminate_backend(pg_backend_pid())'))
      .catch(() => 0);
    expect(await database.lost).toEqual(expect.any(String));
    await database.close();
    const again = await claimSoon();
    goOn();
    await ended;
    await again.close();
  });

  it('whose book is closed while a snapshot connects does not wait for the snapshot', async () => {
    const database = await claimSoon();
    const work = jest.fn(() => new Promise<void>(() => undefined));
    const ended = expect(database.snapshot(work)).rejects.toThrow(BookUnavailableError);
    await database.close();
    await ended;
    expect(work).not.toHaveBeenCalled();
  });

  it('sets the keep-alives by which PostgreSQL frees the lock of a machine that is gone', async () => {
    const database = await claimSoon();
    const show = async (name: string) => {
      const [row] = await database.transaction((within) => within.query<Record<string, string>>(`SHOW ${name}`));
      return row?.[name];
    };
    expect(await show('tcp_keepalives_idle')).toBe('10');
    expect(await show('tcp_keepalives_interval')).toBe('5');
    expect(await show('tcp_keepalives_count')).toBe('3');
    expect(await show('tcp_user_timeout')).toBe('25000');
    await database.close();
  });

  it('that no longer answers is given up, and the book is claimed anew', async () => {
    const url = new URL(server.url);
    const proxy = await startTcpProxy(Number(url.port));
    url.port = String(proxy.port);
    // Long enough for the queries before it.
    url.searchParams.set('query_timeout', '8000');
    try {
      const database = await claimBook({ url: url.href });
      const writer = await BookWriter.open(database, 'spec');
      const swallowed = proxy.holdRepliesTo('INSERT INTO events');
      const post = () => postEvents(writer, [deliver(answered(transferId(900_001)))], SELLER);
      await expect(post()).rejects.toThrow(BookUnavailableError);
      await swallowed;
      expect(await database.lost).toBe('the connection was closed');
      await database.close();
      const again = await claimSoon();
      await again.close();
    } finally {
      await proxy.stop();
    }
  });

  it('is waited for at a migration, and at the commit of a restored copy, for longer than at a batch', async () => {
    const book = await createTestBook();
    const { url } = book.place as { url: string };
    const limited = new URL(url);
    limited.searchParams.set('statement_timeout', '5000');
    limited.searchParams.set('query_timeout', '6000');
    const LONGER_MS = 8_000;
    const other = new Client(url);
    await other.connect();
    try {
      await other.query('CREATE SCHEMA tollgate_book');
      // The migration waits to learn whether its own table of this name can be made.
      await other.query('BEGIN; CREATE TABLE tollgate_book.events ()');
      const claiming = claimBook({ url: limited.href });
      await Promise.race([claiming, sleep(LONGER_MS)]);
      await other.query('ROLLBACK');
      const database = await claiming;

      let copy = '';
      await copyBook(database, (text) => Promise.resolve(void (copy += text)));
      await other.query(`
        CREATE FUNCTION tollgate_book.wait() RETURNS trigger LANGUAGE plpgsql AS
          'BEGIN PERFORM pg_sleep(${LONGER_MS / 1_000}); RETURN NULL; END';
        CREATE CONSTRAINT TRIGGER slow_commit AFTER INSERT ON tollgate_book.gaps DEFERRABLE INITIALLY DEFERRED
          FOR EACH ROW EXECUTE FUNCTION tollgate_book.wait()`);
      const lines = Readable.from(copy.trimEnd().split('\n'));
      expect(await restoreBook(await BookWriter.open(database, 'spec'), lines)).not.toBeNull();
      await database.close();
    } finally {
      await other.end();
      await book.remove();
    }
  });

  it('that does not come to a batch for a while is waited for', async () => {
    const database = await claimSoon();
    const writer = await BookWriter.open(database, 'spec');
    const other = new Client(server.url);
    await other.connect();
    await other.query('BEGIN; LOCK TABLE tollgate_book.events IN ACCESS EXCLUSIVE MODE');
    const posting = postEvents(writer, [deliver(answered(transferId(900_000)))], SELLER);
    await waitFor('the batch waits', async () => {
      const { rows } = await other.query('SELECT FROM pg_stat_activity WHERE wait_event_type = $1', ['Lock']);
      return rows.length === 1;
    });
    await other.query('COMMIT');
    expect(await posting).toMatchObject({ events: 1, bookings: 1 });
    await other.end();
    await database.close();
  });
});
