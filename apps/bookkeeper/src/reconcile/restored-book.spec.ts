import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Logger } from '@nestjs/common';
import { BOOK_GROUP, bucketEventsKey } from '@tollgate/book-events';
import type { BookHealth } from '@tollgate/operator-api';
import type { Hex } from '@tollgate/protocol';
import type { RefundPreview } from '@tollgate/refunds';

import { createTestBook, type TestBook } from '../../../../libs/book/test/create-test-book.js';
import { deliver, refused } from '../../../../libs/book/test/sample-events.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { ReconcileFixture } from '../../test/reconcile-fixture.js';

describe('a book that was restored from a copy', () => {
  let fixture: ReconcileFixture;
  let restored: TestBook;
  const others: TestBook[] = [];
  let folder: string;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    folder = mkdtempSync(join(tmpdir(), 'tollgate-restored-'));
    fixture = await ReconcileFixture.start();
    restored = await createTestBook();
  });

  afterAll(async () => {
    await fixture.stop();
    for (const book of [restored, ...others]) await book.remove();
    rmSync(folder, { recursive: true });
  });

  async function copyBook(): Promise<string> {
    const token = await fixture.books.createToken('operator:approve');
    const headers = { Authorization: `Bearer ${token}` };
    const response = await fetch(`${fixture.bookkeeper.url}/operator/backup`, { headers });
    const file = join(folder, 'copy.book');
    writeFileSync(file, await response.text());
    return file;
  }

  /** Waits until the book knows what it lacks, and blocks, which count whole seconds, are of a later time. */
  async function waitPastGap(): Promise<void> {
    await waitFor('the end of the gap', async () => {
      const { gaps } = await fixture.get<BookHealth>('/operator/health');
      const untilMs = Date.parse(gaps.at(-1)?.until ?? '');
      return Date.now() > untilMs + 1_000;
    });
  }

  it('does not take what was sold after the copy for unclaimed money, and lets a person look before a refund', async () => {
    const owed = await fixture.pay(9_000n);
    const event = refused(fixture.nameOf(owed), { amount: '9000' });
    const facts = { ...event.facts, transaction: owed, payer: fixture.payer() };
    await fixture.books.report(deliver({ ...event, facts } as typeof event));
    await fixture.waitForState(fixture.nameOf(owed), 'refused');
    await fixture.waitUntilCompared();
    const file = await copyBook();
    // Sold, booked, and acknowledged after the copy.
    const sold = await fixture.pay(10_000n);
    await fixture.waitForState(await fixture.answer(sold), 'answered');
    await fixture.waitPastHead();
    await fixture.books.endBookkeepers();
    await fixture.startBookkeeper({ ...restored.env, BOOK_RESTORE: file });
    await waitPastGap();
    const later = await fixture.pay(4_000n);
    await fixture.waitForState(fixture.nameOf(later), 'unclaimed');
    await waitFor('the sale is listed', async () => (await fixture.read()).chainOnly.length === 1);
    expect(await fixture.read()).toMatchObject({
      chainOnly: [{ transaction: sold, amount: '10000', reason: 'before_the_book_was_complete' }],
      waiting: { transfers: 0 },
    });
    expect(await fixture.findPayment(fixture.nameOf(sold))).toMatchObject({ status: 404 });
    expect((await fixture.balances())['owed:unclaimed']).toBe('-4000');

    const { gaps, completeFrom } = await fixture.get<{ gaps: { until: string }[]; completeFrom: string }>(
      '/operator/health',
    );
    expect(completeFrom).toBe(gaps[0]?.until);
    const preview = (transaction: Hex) =>
      fixture.get<RefundPreview>(`/operator/payments/${fixture.nameOf(transaction)}/refund`);
    expect((await preview(owed)).doubts).toEqual([
      expect.stringContaining('may have bought an answer'),
      expect.stringContaining('may have been paid back already'),
    ]);
    expect((await preview(later)).doubts).toEqual([]);
  });

  /** A sale whose event is acknowledged in Redis. */
  async function sell(): Promise<Hex> {
    const sold = await fixture.pay(10_000n);
    await fixture.waitForState(await fixture.answer(sold), 'answered');
    const readPending = async () => (await fixture.books.redis.xpending(bucketEventsKey(0), BOOK_GROUP))[0];
    await waitFor('the sale is acknowledged', async () => (await readPending()) === 0);
    await fixture.waitPastHead();
    return sold;
  }

  it('by the tools of its database names what it lacks as well', async () => {
    await fixture.books.endBookkeepers();
    others.push(await restored.copy());
    await fixture.startBookkeeper(restored.env);
    const sold = await sell();
    const soldAtMs = Date.now();
    await fixture.books.endBookkeepers();
    await fixture.startBookkeeper(others[0]!.env);
    const isSold = ({ transaction }: { transaction: string | null }) => transaction === sold;
    await waitFor('the sale is listed', async () => (await fixture.read()).chainOnly.some(isSold));
    expect((await fixture.read()).chainOnly.find(isSold)).toMatchObject({ reason: 'before_the_book_was_complete' });
    expect(await fixture.findPayment(fixture.nameOf(sold))).toMatchObject({ status: 404 });
    const { gaps } = await fixture.get<BookHealth>('/operator/health');
    expect(Date.parse(gaps.at(-1)?.until ?? '')).toBeGreaterThan(soldAtMs);
  });

  it('not at all, beside a Redis that knows another one, takes nothing of before for unclaimed money', async () => {
    const sold = await sell();
    await fixture.books.endBookkeepers();
    others.push(await createTestBook());
    await fixture.startBookkeeper(others[1]!.env);
    await waitPastGap();
    await fixture.waitForState(fixture.nameOf(await fixture.pay(3_000n)), 'unclaimed');
    expect(await fixture.findPayment(fixture.nameOf(sold))).toMatchObject({ status: 404 });
    expect((await fixture.balances())['owed:unclaimed']).toBe('-3000');
    const { gaps, completeFrom } = await fixture.get<BookHealth>('/operator/health');
    expect(gaps).toEqual([{ since: expect.any(String) as unknown, until: completeFrom }]);
  });
});
