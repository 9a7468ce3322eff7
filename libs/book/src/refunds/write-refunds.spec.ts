import { createTestBook, type TestBook } from '../../test/create-test-book.js';
import { ASSET, deliver, hashOf, PAYER, refused, SELLER, transferId } from '../../test/sample-events.js';
import type { ClaimedDatabase } from '../database/database.js';
import { BookWriter } from '../posting/book-writer.js';
import { postEvents } from '../posting/post-events.js';
import { nameTransaction } from './name-transaction.js';
import type { ArrivedTransfer, Refund, RefundCaps, RefundTerms } from './refund.js';
import { askForRefund, changeRefund, retryRefund, type AskLimits, type AskResult } from './write-refunds.js';

const NO_CAPS: RefundCaps = { each: null, perPayerAndDay: null, perKeyAndDay: null, perDay: null };

describe('writing refunds', () => {
  let book: TestBook;
  let database: ClaimedDatabase;
  let writer: BookWriter;
  let number = 0;

  beforeAll(async () => {
    book = await createTestBook();
    database = await book.claim();
    writer = await BookWriter.open(database, 'spec');
  });

  beforeEach(() => database.execute('DELETE FROM refunds; DELETE FROM refunded_transfers'));

  afterAll(async () => {
    await database.close();
    await book.remove();
  });

  /** Asks for the first refund of a payment of 10000 base units, which is in a transaction of its own unless it is said otherwise. */
  async function tryToAsk(
    amount: string,
    more: Partial<RefundTerms> & { transfers?: readonly ArrivedTransfer[] } = {},
    limits: Partial<AskLimits> = {},
  ): Promise<AskResult> {
    const payment = more.payment ?? transferId(++number);
    await postEvents(writer, [deliver(refused(payment))], SELLER);
    const terms = {
      ...{ id: `r${++number}-1`, payment, number: 1, amount, chainId: 1328, asset: ASSET, recipient: PAYER },
      ...{ permit: null, reason: null, answered: false, doubts: [], arrivedIn: hashOf(number) },
      ...{ transfers: [{ log: 0, arrived: '10000' }], ...more },
    };
    return askForRefund(writer, terms, { keyId: 'key-1', caps: NO_CAPS, large: null, ...limits });
  }

  async function ask(amount: string, ...rest: [Parameters<typeof tryToAsk>[1]?]): Promise<Refund> {
    const asked = await tryToAsk(amount, ...rest);
    if (asked.outcome !== 'asked') throw new Error(asked.outcome);
    return asked.refund;
  }

  async function fail(refund: Refund): Promise<Refund> {
    const failed = await changeRefund(writer, refund, ['asked', 'closed'], { state: 'failed' });
    if (failed === null) throw new Error('it was not changed');
    return failed;
  }

  it('counts a refund for the caps of the day on which it is sent again, and of the key that does it', async () => {
    const old = [await fail(await ask('6000')), await fail(await ask('6000'))] as const;
    await database.execute(
      "UPDATE refunds SET attempt_at = now() - interval '3 days', asked_at = now() - interval '3 days'",
    );
    const retry = (refund: Refund, caps: Partial<RefundCaps>, keyId = 'key-2') =>
      retryRefund(writer, refund, { keyId, caps: { ...NO_CAPS, ...caps } });
    expect(await retry(old[0], { each: 5_999n })).toEqual({ outcome: 'over_cap', cap: 'each', left: 5_999n });
    expect(await retry(old[0], { perDay: 10_000n })).toMatchObject({ outcome: 'retried', refund: { attempt: 2 } });
    expect(await retry(old[1], { perDay: 10_000n })).toEqual({ outcome: 'over_cap', cap: 'perDay', left: 4_000n });
    expect(await retry(old[1], { perPayerAndDay: 10_000n })).toMatchObject({ cap: 'perPayerAndDay' });
    expect(await retry(old[1], { perKeyAndDay: 10_000n })).toMatchObject({ cap: 'perKeyAndDay' });
    expect(await retry(old[1], { perKeyAndDay: 10_000n }, 'key-3')).toMatchObject({ outcome: 'retried' });
  });

  it('does not count a refund against itself when it is sent again on the same day', async () => {
    const failed = await fail(await ask('6000'));
    const caps = { ...NO_CAPS, perDay: 6_000n };
    expect(await retryRefund(writer, failed, { keyId: 'key-1', caps })).toMatchObject({ outcome: 'retried' });
  });

  it('makes one attempt of two retries that have read the same refund, and changes no later attempt', async () => {
    const failed = await fail(await ask('6000'));
    const limits = { keyId: 'key-1', caps: NO_CAPS };
    const retried = await retryRefund(writer, failed, limits);
    if (retried.outcome !== 'retried') throw new Error(retried.outcome);
    await fail(retried.refund);
    expect(await retryRefund(writer, failed, limits)).toEqual({ outcome: 'changed' });
    expect(await changeRefund(writer, failed, ['failed'], { state: 'given_up' })).toBeNull();
  });

  describe('of transfers that several payments name', () => {
    const ARRIVED_IN = hashOf(4242);
    const [ALL, FIRST, SECOND] = [
      [
        { log: 0, arrived: '6000' },
        { log: 3, arrived: '4000' },
      ],
      [{ log: 0, arrived: '6000' }],
      [{ log: 3, arrived: '4000' }],
    ];
    const of = (transfers: readonly ArrivedTransfer[]) => ({ arrivedIn: ARRIVED_IN, transfers });
    const readTakes = () =>
      database.query<{ log: number; taken: string }>('SELECT log, taken::text FROM refunded_transfers ORDER BY log');

    // Prevents: an event under another name of the same transfer, which everybody can write who writes to Redis, has it paid back again.
    it('takes what arrived once, whatever the payments are called', async () => {
      await ask('6000', of(FIRST));
      expect(await tryToAsk('1', of(FIRST))).toEqual({ outcome: 'exceeds', left: 0n });
      expect(await tryToAsk('4001', of(ALL))).toEqual({ outcome: 'exceeds', left: 4000n });
      await ask('3000', of(ALL));
      expect(await tryToAsk('1001', of(SECOND))).toEqual({ outcome: 'exceeds', left: 1000n });
      await ask('1000', of(SECOND));
      expect(await readTakes()).toEqual([
        { log: 0, taken: '6000' },
        { log: 3, taken: '4000' },
      ]);
    });

    it('takes what arrived once of ten refunds that are asked for at once', async () => {
      const asked = await Promise.all(Array.from({ length: 10 }, () => tryToAsk('10000', of(ALL))));
      expect(asked.filter(({ outcome }) => outcome === 'asked')).toHaveLength(1);
      expect(asked.filter(({ outcome }) => outcome === 'exceeds')).toHaveLength(9);
    });

    it('gives back to each transfer what a refund that ended without paying had taken of it, once', async () => {
      const second = await ask('4000', of(SECOND));
      const first = await ask('6000', of(ALL));
      await fail(first);
      expect(await tryToAsk('1', of(FIRST))).toEqual({ outcome: 'exceeds', left: 0n });
      await changeRefund(writer, first, ['failed'], { state: 'given_up' });
      expect(await tryToAsk('4001', of(SECOND))).toEqual({ outcome: 'exceeds', left: 0n });
      await ask('6000', of(FIRST));
      await changeRefund(writer, second, ['asked'], { state: 'refused' });
      await changeRefund(writer, second, ['asked'], { state: 'refused' });
      expect(await tryToAsk('4001', of(ALL))).toEqual({ outcome: 'exceeds', left: 4000n });
    });

    it('takes again for one that was given up and is paid all the same, at most what is left', async () => {
      const given = await fail(await ask('4000', of(ALL)));
      await changeRefund(writer, given, ['failed'], { state: 'given_up' });
      const other = await ask('7000', of(ALL));
      const paid = { transaction: hashOf(77), amount: 3001n };
      expect(await nameTransaction(writer, given, paid)).toEqual({ outcome: 'exceeds' });
      expect(await nameTransaction(writer, given, { ...paid, amount: 3000n })).toMatchObject({ outcome: 'named' });
      expect(await readTakes()).toEqual([
        { log: 0, taken: '6000' },
        { log: 3, taken: '4000' },
      ]);
      await changeRefund(writer, other, ['asked'], { state: 'refused' });
      expect(await tryToAsk('7001', of(ALL))).toEqual({ outcome: 'exceeds', left: 7000n });
    });

    it('takes nothing more of a transfer that a reorganisation has made less than is taken of it', async () => {
      await ask('6000', of(FIRST));
      expect(await tryToAsk('1', of([{ log: 0, arrived: '5000' }]))).toEqual({ outcome: 'exceeds', left: 0n });
      expect(await tryToAsk('3001', of([{ log: 0, arrived: '9000' }]))).toEqual({ outcome: 'exceeds', left: 3000n });
    });

    it('is refused by the database where anything else would take more', async () => {
      await ask('6000', of(FIRST));
      const take = database.execute('UPDATE refunded_transfers SET taken = taken + 1');
      await expect(take).rejects.toMatchObject({ code: '23514' });
    });
  });
});
