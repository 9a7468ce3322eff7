import { copyFileSync, mkdtempSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Logger } from '@nestjs/common';
import { Ledger } from '@tollgate/ledger';

import { createTestBook, type TestBook } from '../../../../libs/book/test/create-test-book.js';
import { answered, deliver, refused, transferId } from '../../../../libs/book/test/sample-events.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { tollgate } from '../../../../tools/cli/test/run-tollgate.js';
import { BookkeeperFixture } from '../../test/bookkeeper-fixture.js';

/** Redis reads its clock once for the commands of a moment. */
const CLOCKS_DIFFER_MS = 100;
const [BEFORE, AFTER, WAITING, LATER] = [transferId(1), transferId(2), transferId(3), transferId(4)];

/**
 * The drill: a copy of Redis and of the book is made, then another payment is booked and one more is still in the outbox.
 * Each test begins there. After the loss, a payment is booked again.
 */
describe('a loss of', () => {
  let drill: BookkeeperFixture;
  let fixture: BookkeeperFixture;
  let folder: string;
  let env: Record<string, string>;
  let empty: TestBook[] = [];
  let completeFrom: number;
  const copy = () => join(folder, 'copy');

  beforeAll(async () => {
    Logger.overrideLogger(false);
    folder = mkdtempSync(join(tmpdir(), 'tollgate-drill-'));
    drill = fixture = await BookkeeperFixture.start();
    const apiKey = await fixture.createToken('operator:read', 'operator:approve');
    env = { REDIS_URL: fixture.server.url, OPERATOR_API_KEY: apiKey, TOLLGATE_STATE_DIR: folder };
    await openLedger();
    await fixture.report(deliver(answered(BEFORE)));
    await startBookkeeper();
    await waitForPayments([BEFORE]);
    expect(await tollgate(['backup', copy(), '--book'], env)).toMatch(/rows of the book/);
    await fixture.report(deliver(refused(AFTER)));
    await waitForPayments([BEFORE, AFTER]);
    completeFrom = await readCompleteFrom();
    await fixture.endBookkeepers();
    await fixture.report(deliver(answered(WAITING)));
    await fixture.server.kill();
  });

  beforeEach(async () => {
    fixture = await drill.copy();
    env['REDIS_URL'] = fixture.server.url;
  });

  afterEach(async () => {
    await fixture.stop();
    await Promise.all(empty.map((book) => book.remove()));
    empty = [];
  });

  afterAll(async () => {
    await drill.stop();
    rmSync(folder, { recursive: true });
  });

  async function startBookkeeper(more: Record<string, string> = {}): Promise<void> {
    env['OPERATOR_URL'] = (await fixture.startBookkeeper(more)).url;
  }

  /** As a verifier with BOOK=on does at its start. */
  async function openLedger(): Promise<void> {
    const ledger = new Ledger({
      redis: fixture.redis,
      chainIds: [1328],
      timeoutMs: 30_000,
      book: { outboxLimit: 1_000_000 },
    });
    await ledger.open({ chainId: 1328, blockNumber: 0 });
  }

  async function readCompleteFrom(): Promise<number> {
    return Date.parse((await ask<{ completeFrom: string }>('/health')).completeFrom);
  }

  /** The database is gone, and a new one is empty. */
  async function loseBook(): Promise<Record<string, string>> {
    const book = await createTestBook();
    empty.push(book);
    return book.env;
  }

  async function loseRedis(): Promise<void> {
    await fixture.redis.flushall();
    await tollgate(['restore', copy()], env);
  }

  function ask<T>(path: string): Promise<T> {
    const headers = { Authorization: `Bearer ${env['OPERATOR_API_KEY']}` };
    return fetch(`${env['OPERATOR_URL']}/operator${path}`, { headers }).then((response) => response.json() as T);
  }

  async function waitForPayments(ids: readonly string[]): Promise<void> {
    const read = async () => (await ask<{ payments: { id: string }[] }>('/payments')).payments.map(({ id }) => id);
    await waitFor(`${ids.length} payments`, async () => (await read()).length >= ids.length);
    expect((await read()).sort()).toEqual([...ids].sort());
  }

  async function expectWhole(gaps: number): Promise<void> {
    expect(await tollgate(['book', 'verify'], env)).toContain('The book is whole');
    expect((await ask<{ gaps: object[] }>('/health')).gaps).toHaveLength(gaps);
  }

  it('Redis: the book has all that it had, and what waited in Redis is missing', async () => {
    await loseRedis();
    const restoredAt = Date.now();
    await openLedger();
    await startBookkeeper();
    await fixture.report(deliver(answered(LATER)));
    await waitForPayments([BEFORE, AFTER, LATER]);
    await expectWhole(0);
    // The gap is shown: what was reported before may be missing, and the chain's money of that time is not invented.
    expect(await readCompleteFrom()).toBeGreaterThan(completeFrom);
    expect(await readCompleteFrom()).toBeGreaterThanOrEqual(restoredAt - CLOCKS_DIFFER_MS);
  });

  it('the book: its copy lacks what was booked later, gets what waited in Redis, and names the gap', async () => {
    await startBookkeeper({ ...(await loseBook()), BOOK_RESTORE: `${copy()}.book` });
    await waitForPayments([BEFORE, WAITING]);
    await fixture.report(deliver(answered(LATER)));
    await waitForPayments([BEFORE, WAITING, LATER]);
    await expectWhole(1);
  });

  it('both: what came after the copy is missing, and the gap is named', async () => {
    await loseRedis();
    const restored = { ...(await loseBook()), BOOK_RESTORE: `${copy()}.book` };
    await startBookkeeper(restored);
    await fixture.report(deliver(answered(LATER)));
    await waitForPayments([BEFORE, LATER]);
    await expectWhole(1);

    // The setting may stay: a book that has something is never written over.
    await fixture.endBookkeepers();
    await startBookkeeper(restored);
    await waitForPayments([BEFORE, LATER]);
    await expectWhole(1);
  });

  it('a part of the copy: the bookkeeper does not start', async () => {
    const part = join(folder, 'part');
    copyFileSync(`${copy()}.book`, part);
    truncateSync(part, 500);
    const lost = await loseBook();
    await expect(startBookkeeper({ ...lost, BOOK_RESTORE: part })).rejects.toThrow(
      /BOOK_RESTORE: .* cannot be restored: The copy is damaged\./,
    );
    await expect(startBookkeeper({ ...lost, BOOK_RESTORE: '/nowhere' })).rejects.toThrow(/ENOENT/);
  });
});
