import type { Refund, RefundChange, RefundTerms } from '@tollgate/refunds';

import { askForRefund, changeRefund } from '../../../refunds/src/write-refunds.js';
import { ASSET, hashOf, PAYER, PAY_TO, refused, transferId } from '../../test/sample-events.js';
import { useTestBook } from '../../test/use-test-book.js';
import { SqlRefundBook } from './refund-book.js';

const ARRIVED_IN = hashOf(4242);
const ARRIVAL = { chainId: 1328, arrivedIn: ARRIVED_IN };
const TRANSFERS = [
  { log: 0, arrived: '6000' },
  { log: 3, arrived: '4000' },
];
const NO_CAPS = { each: null, perPayerAndDay: null, perKeyAndDay: null, perDay: null };

/** The rules on these tables are in `libs/refunds`; here is what only the database can do. */
describe('the tables of refunds', () => {
  const test = useTestBook();
  let book: SqlRefundBook;
  let number = 0;

  beforeEach(() => {
    book = new SqlRefundBook(test.writer);
  });

  /** The first refund of a payment that arrived in one transaction with the others. */
  const createTerms = (amount: string, more: Partial<RefundTerms> = {}): RefundTerms => ({
    id: `r${++number}-1`,
    payment: transferId(number),
    number: 1,
    amount,
    ...ARRIVAL,
    asset: ASSET,
    recipient: PAYER,
    permit: null,
    reason: null,
    answered: false,
    doubts: [],
    ...more,
  });

  function insert(amount: string, more: Partial<RefundTerms> = {}, keyId = 'key-1'): Promise<Refund> {
    return book.write((rows) => rows.insert(createTerms(amount, more), keyId, []));
  }

  it('keep every change of a refund, and when its attempt began', async () => {
    const { id, askedAt, changedAt, attemptAt, ...asked } = await insert('6000', { doubts: ['It is large.'] });
    expect(asked).toMatchObject({
      state: 'asked',
      attempt: 1,
      askedBy: ['key-1'],
      doubts: ['It is large.'],
      route: null,
    });
    expect([askedAt, changedAt, attemptAt]).toEqual(Array(3).fill(expect.stringMatching(/^20.*Z$/)));
    const change: RefundChange = {
      amount: '4000',
      askedAmount: '6000',
      askedBy: ['key-1', 'key-2'],
      attempt: 2,
      detail: 'Why.',
      doubts: ['No.'],
      job: 'job-1',
      maybeSent: true,
      state: 'sending',
      transaction: hashOf(1),
    };
    const changed = await book.write((rows) => rows.update(id, { ...change, takes: [{ log: 0, taken: '4000' }] }));
    expect(changed).toEqual({ id, ...asked, ...change, askedAt, ...timesOf(changed) });
    expect(Date.parse(changed.attemptAt)).toBeGreaterThan(Date.parse(attemptAt));
    expect(await book.read(id)).toEqual(changed);
    expect(await book.readTakes(id)).toEqual([{ log: 0, taken: '4000' }]);
    const { detail, ...rest } = await book.write((rows) => rows.update(id, { detail: null }));
    expect({ ...rest, detail }).toEqual({ ...changed, detail: null, changedAt: rest.changedAt });
  });

  it('have one that is asked for again after it was refused in its place', async () => {
    const { id, payment } = await insert('6000');
    await book.write((rows) => rows.update(id, { state: 'refused', detail: 'Held.' }));
    const again = { id, payment, recipient: PAY_TO };
    expect(await insert('5000', again, 'key-2')).toMatchObject({
      ...again,
      state: 'asked',
      amount: '5000',
      askedBy: ['key-2'],
      attempt: 1,
      detail: null,
    });
    expect(await book.listOf(payment)).toHaveLength(1);
  });

  it('add up what counts today: by payer, and by the key that asked last', async () => {
    const of = { chainId: 1328, asset: ASSET, recipient: PAYER };
    const { id } = await insert('1000');
    await insert('200', { recipient: PAY_TO }, 'key-2');
    const retried = await insert('30');
    await book.write((rows) => rows.update(retried.id, { attempt: 2, askedBy: ['key-1', 'key-2'] }));
    const sums = { perDay: 1230n, perPayerAndDay: 1030n, perKeyAndDay: 230n };
    expect(await book.readToday(of, 'key-2', '')).toEqual(sums);
    // Neither of another token or chain, nor one that ended without paying, nor one of an earlier day.
    await insert('7', { asset: PAY_TO });
    await insert('7', { chainId: 1 });
    for (const state of ['given_up', 'refused'] as const) {
      const ended = await insert('7');
      await book.write((rows) => rows.update(ended.id, { state }));
    }
    const old = await insert('7');
    await test.database.query("UPDATE refunds SET attempt_at = now() - interval '1 day' WHERE id = $1", [old.id]);
    expect(await book.readToday(of, 'key-2', '')).toEqual(sums);
    expect(await book.readToday(of, 'key-2', id)).toMatchObject({ perDay: 230n });
  });

  it('refuse to take more of a transfer than it moved, whoever asks', async () => {
    expect(await book.write((rows) => rows.noteTransfers(ARRIVAL, TRANSFERS))).toEqual(
      TRANSFERS.map((transfer) => ({ ...transfer, taken: '0' })),
    );
    const add = (taken: string) => book.write((rows) => rows.addTaken(ARRIVAL, [{ log: 0, taken }]));
    await add('6000');
    await expect(add('1')).rejects.toMatchObject({ code: '23514' });
    await add('-1');
    await expect(add('-6000')).rejects.toMatchObject({ code: '23514' });
    expect(await book.readTransfers(ARRIVAL, [0, 9])).toEqual([{ log: 0, arrived: '6000', taken: '5999' }]);
    // A reorganisation may have made a transfer less than is taken of it.
    const note = (arrived: string) => book.write((rows) => rows.noteTransfers(ARRIVAL, [{ log: 0, arrived }]));
    expect(await note('5000')).toEqual([]);
    expect(await note('9000')).toEqual([{ log: 0, arrived: '9000', taken: '5999' }]);
  });

  it('take what arrived once of ten refunds that are asked for at once, and have none of the others', async () => {
    const settings = {
      asset: ASSET,
      recipients: [PAY_TO],
      decimals: 6,
      caps: NO_CAPS,
      approvalAbove: null,
      confirmations: 1,
      walletName: 'refunds',
      names: { token: 'ASSET_ADDRESS', payTo: 'PAY_TO', decimals: 'ASSET_DECIMALS' },
    };
    const asked = await Promise.allSettled(
      Array.from({ length: 10 }, async () => {
        const terms = createTerms('10000');
        await test.post(refused(terms.payment));
        return askForRefund({ book, settings }, { ...terms, transfers: TRANSFERS }, 'key-1');
      }),
    );
    const exceeds = { status: 'rejected', reason: { members: { reason: 'exceeds', left: '0' } } };
    expect(asked.filter(({ status }) => status === 'rejected')).toMatchObject(Array(9).fill(exceeds));
    const [refund] = (await book.listInWork()) as [Refund];
    await changeRefund(book, refund, ['asked'], { state: 'refused' });
    expect(await book.readTransfers(ARRIVAL, [0, 3])).toEqual(TRANSFERS.map((one) => ({ ...one, taken: '0' })));
  });

  it('list refunds page by page, those in work, and those that a job may have paid', async () => {
    const all: Refund[] = [];
    for (let count = 0; count < 5; count++) all.push(await insert('1'));
    const pages = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await book.search({}, { limit: 2, cursor });
      pages.push(page.refunds.map(({ id }) => id));
      ({ cursor } = page);
    }
    const ids = all.map(({ id }) => id).toReversed();
    expect(pages).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
    await expect(book.search({}, { limit: 2, cursor: 'nothing' })).rejects.toThrow(RangeError);
    const [first, second, third, fourth] = all as [Refund, Refund, Refund, Refund];
    const update = (id: string, change: Parameters<typeof changeRefund>[3]) =>
      book.write((rows) => rows.update(id, { job: 'job-1', ...change }));
    await update(first.id, { state: 'refunded' });
    await update(second.id, { state: 'failed' });
    await update(third.id, { state: 'sending' });
    const { refunds } = await book.search({ state: 'failed', payment: second.payment.toUpperCase() }, { limit: 9 });
    expect(refunds.map(({ id }) => id)).toEqual([second.id]);
    expect((await book.listInWork()).map(({ id }) => id)).toEqual([third, fourth, all[4]!].map(({ id }) => id));
    expect((await book.listUnpaid(third)).map(({ id }) => id)).toEqual([second.id]);
  });

  it('say what a payment or transaction is doubted for', async () => {
    const payment = transferId(++number);
    const insertEvent = (id: string, name: string, names: string | null) =>
      test.database.query(
        `INSERT INTO events (stream, id, type, payment, at, fields, names, applied)
          VALUES ('s', $1, 'answered', $2, now(), '{}', $3::jsonb, false)`,
        [id, name, names],
      );
    expect(await book.hasUnapplied(payment, ARRIVED_IN)).toBe(false);
    await insertEvent('1-0', payment, null);
    expect(await book.hasUnapplied(payment, null)).toBe(true);
    expect(await book.hasUnapplied('another', ARRIVED_IN)).toBe(false);
    await insertEvent('2-0', 'third', JSON.stringify([ARRIVED_IN]));
    expect(await book.hasUnapplied('another', ARRIVED_IN)).toBe(true);
    await test.database.query(
      `INSERT INTO differences (list, subject, transaction, asset, amount, at, reason)
        VALUES ('book_only', 'auth:1', $1, '1328:0x', 10000, now(), 'no_transfer_left')`,
      [ARRIVED_IN],
    );
    expect([await book.hasDifference(ARRIVED_IN), await book.hasDifference(hashOf(1))]).toEqual([true, false]);
    expect(await book.isOwnAccount(1328, PAYER)).toBe(false);
    await test.database.query('INSERT INTO senders (chain_id, address, nonce, block_number) VALUES (1328, $1, 0, 0)', [
      PAYER,
    ]);
    expect(await book.isOwnAccount(1328, PAYER)).toBe(true);
  });
});

const timesOf = ({ changedAt, attemptAt }: Refund) => ({ changedAt, attemptAt });
