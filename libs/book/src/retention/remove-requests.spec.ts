import { createPreimageSigner } from '@tollgate/crypto';

import { askForRefunds } from '../../test/ask-for-refunds.js';
import { answered, refunded, refunding, released, transferId } from '../../test/sample-events.js';
import { useTestBook } from '../../test/use-test-book.js';
import { closeBook } from '../closing/close-book.js';
import { checkProof, type BookProof } from '../closing/payment-proof.js';
import { provePayment, type NoProof } from '../closing/prove-payment.js';
import type { Queryable, SqlValue } from '../database/database.js';
import { readBookedPayment } from '../reading/read-payment.js';
import { verifyBook } from '../reading/verify-book.js';
import { monthsBefore, removeRequests } from './remove-requests.js';

const AFTER_ALL = Date.UTC(2999, 0, 1);
const [SOLD, FAILED] = [transferId(1), transferId(2)];
const CANARY = 'canary-of-the-request';

describe('the removal of request data', () => {
  const book = useTestBook();

  beforeEach(async () => {
    const request = { requestId: CANARY, method: CANARY, path: `/${CANARY}`, query: `a=${CANARY}` };
    await book.post(answered(SOLD, { ...request, requestHash: CANARY }), released(FAILED, request));
    await closeBook(book.writer, createPreimageSigner(`0x${'22'.repeat(32)}`)!, { untilMs: Date.now() + 1 });
  });

  async function dump(): Promise<string> {
    const tables = ['payments', 'events', 'payment_events', 'bookings', 'entries', 'audit'];
    const rows = await Promise.all(tables.map((table) => book.database.query(`SELECT * FROM ${table}`)));
    return JSON.stringify(rows);
  }

  it('leaves nothing of the requests, and a book that verifies and proves as before', async () => {
    expect(await dump()).toContain(CANARY);
    const before = await verifyBook(book.database, []);
    expect(await removeRequests(book.writer, AFTER_ALL)).toEqual({ payments: 2, events: 2, outgoing: 3 });
    expect(await dump()).not.toContain(CANARY);
    expect(await verifyBook(book.database, [])).toEqual(before);
    const proof: BookProof | NoProof = await provePayment(book.database, SOLD);
    expect(proof).toMatchObject({ request: null });
    const signer = (proof as BookProof).bookings[0]!.closing.signer;
    expect(checkProof(proof, { key: signer }).bookings).toHaveLength(1);
    const { reported, ...listed } = (await readBookedPayment(book.database, SOLD))!;
    expect(listed).toMatchObject({
      state: 'answered',
      amount: '10000',
      route: '/api/weather',
      requestId: null,
      path: null,
    });
    expect(reported.answered).toMatchObject({ answerHash: 'ab'.repeat(32), status: 200, price: '10000' });
    expect(await removeRequests(book.writer, AFTER_ALL)).toEqual({ payments: 0, events: 0, outgoing: 0 });
  });

  it('reads what it removes by an index, oldest first', async () => {
    const asked: [sql: string, values: readonly SqlValue[]][] = [];
    const watch = (within: Queryable): Queryable => ({
      query: (sql, values = []) => {
        asked.push([sql, values]);
        return within.query(sql, values);
      },
    });
    jest.spyOn(book.writer, 'write').mockImplementation((work) => book.database.transaction((all) => work(watch(all))));
    await removeRequests(book.writer, AFTER_ALL);
    const plans = await book.database.transaction(async (within) => {
      // A table of two rows is read whole else.
      for (const way of ['seqscan', 'bitmapscan', 'sort']) await within.query(`SET LOCAL enable_${way} = off`);
      const found: string[] = [];
      for (const [sql, values] of asked) {
        const lines = await within.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${sql}`, values);
        found.push(lines.map((line) => line['QUERY PLAN']).join('\n'));
      }
      return found;
    });
    const [payments, events, outgoing] = plans;
    expect(payments).toMatch(/Limit.*\n.*Index Scan using payments_to_forget/);
    expect(events).toMatch(/Limit.*\n.*Index Scan using events_oldest/);
    expect(outgoing).toMatch(/Limit.*\n.*Index Scan using payment_events_oldest/);
  });

  it('does not touch what is newer', async () => {
    const before = await dump();
    expect(await removeRequests(book.writer, Date.UTC(2026, 0, 1))).toEqual({ payments: 0, events: 0, outgoing: 0 });
    expect(await dump()).toBe(before);
  });

  it('lets what comes later be booked as ever', async () => {
    await removeRequests(book.writer, AFTER_ALL);
    const refund = refunded(SOLD, '4000');
    await askForRefunds(book.database, refund);
    await book.post(answered(SOLD), refunding(SOLD), refund, answered(FAILED));
    const verdict = await verifyBook(book.database, []);
    expect(verdict).toMatchObject({ broken: null, bookings: 4 });
    const balances = await book.database.query<{ account: string; sum: string }>(
      'SELECT account, sum(amount)::text AS sum FROM entries GROUP BY account HAVING sum(amount) <> 0 ORDER BY account',
    );
    expect(Object.fromEntries(balances.map(({ account, sum }) => [account, sum]))).toMatchObject({
      'revenue:/api/weather': '-20000',
      refunds: '4000',
    });
  });
});

describe('monthsBefore', () => {
  it.each([
    ['2026-11-25T10:00:00.000Z', 1, '2026-10-25T10:00:00.000Z'],
    ['2026-03-31T10:00:00.000Z', 1, '2026-02-28T10:00:00.000Z'],
    ['2028-03-31T10:00:00.000Z', 1, '2028-02-29T10:00:00.000Z'],
    ['2026-07-31T23:59:59.999Z', 1, '2026-06-30T23:59:59.999Z'],
    ['2028-02-29T00:00:00.000Z', 12, '2027-02-28T00:00:00.000Z'],
    ['2026-01-31T00:00:00.000Z', 2, '2025-11-30T00:00:00.000Z'],
    ['2026-12-31T00:00:00.000Z', 1200, '1926-12-31T00:00:00.000Z'],
  ])('of %s and %i is %s', (now, months, before) => {
    expect(new Date(monthsBefore(Date.parse(now), months)).toISOString()).toBe(before);
  });
});
