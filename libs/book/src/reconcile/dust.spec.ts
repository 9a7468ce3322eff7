import { answered, ASSET, deliver, hashOf, PAY_TO, PAYER, refused, SELLER } from '../../test/sample-events.js';
import { useTestBook } from '../../test/use-test-book.js';
import { postEvents } from '../posting/post-events.js';
import { readBalances } from '../reading/read-balances.js';
import { searchPayments } from '../reading/search-payments.js';
import { verifyBook } from '../reading/verify-book.js';
import { readOpenQuestions } from './open-questions.js';
import { postAnswers } from './post-answers.js';
import { readLeastUnclaimed } from './read-least-unclaimed.js';
import type { NamedTransfer } from './reconcile-money.js';
import { beginAt, rewind } from './store-transfers.js';

const SCOPE = { chainId: 1328, asset: ASSET, recipient: PAY_TO };
const OTHER = `0x${'ee'.repeat(20)}`;
const LATER_MS = Date.UTC(2026, 10, 26);

describe('unclaimed transfers that are too small', () => {
  const book = useTestBook();
  beforeEach(() => beginAt(book.writer, SCOPE, 1));
  afterEach(async () => expect((await verifyBook(book.database, [])).broken).toBeNull());

  /** Transfers of one transaction, by payer and amount. */
  const shown = (hash: string, ...moved: [payer: string, amount: string][]): NamedTransfer[] =>
    moved.map(([payer, amount], logIndex) => ({
      transaction: hash,
      logIndex,
      blockNumber: 5,
      payer,
      amount,
      atMs: LATER_MS,
      payment: `tx:1328:${hash}:${logIndex}`,
    }));
  const answer = (hash: string, transfers: readonly NamedTransfer[] | null, least = 1_000n) => {
    const told = transfers && { blockNumber: 5, atMs: LATER_MS, transfers };
    const money = [{ scope: SCOPE, transaction: hash, answer: told }];
    const terms = { chainId: SCOPE.chainId, seller: SELLER, completeFromMs: 0, leastOf: () => least };
    return postAnswers(book.writer, { money, gas: new Map(), unreported: [] }, terms);
  };
  const listed = async (search = {}) =>
    (await searchPayments(book.database, { owed: true, ...search }, { limit: 100, order: 'oldest' })).payments
      .map(({ id, amount }) => [id, amount])
      .sort();
  const unclaimed = async () =>
    (await readBalances(book.database)).find(({ account }) => account === 'owed:unclaimed')?.amount;

  it('are one sum for each payer and transaction, beside those that are not', async () => {
    const hash = hashOf(70);
    await answer(hash, shown(hash, [PAYER, '1'], [OTHER, '2'], [PAYER, '999'], [PAYER, '1000'], [PAYER, '3']));
    const own = [`tx:1328:${hash}:3`, '1000'];
    expect(await listed()).toEqual([
      ...[
        [`dust:1328:${hash}:${PAYER}:${ASSET}:${PAY_TO}`, '1003'],
        [`dust:1328:${hash}:${OTHER}:${ASSET}:${PAY_TO}`, '2'],
        own,
      ],
    ]);
    expect(await listed({ withoutDust: true })).toEqual([own]);
    expect(await unclaimed()).toBe('-2005');
  });

  it('are 2,000 of one transaction in one booking', async () => {
    const hash = hashOf(71);
    const { bookings } = await answer(hash, shown(hash, ...Array(2_000).fill([PAYER, '1'])));
    expect(bookings).toHaveLength(1);
    expect(await listed()).toEqual([[`dust:1328:${hash}:${PAYER}:${ASSET}:${PAY_TO}`, '2000']]);
  });

  it('leave the sum one by one as they are presented, also several at once', async () => {
    const hash = hashOf(72);
    const transfers = shown(hash, [PAYER, '5'], [PAYER, '5'], [PAYER, '7'], [PAYER, '9']);
    await answer(hash, transfers);
    const place = (log: number, amount: string) => {
      const event = refused(`tx:1328:${hash}:${log}`, { amount, failure: 'amount_too_low' });
      Object.assign(event.facts, { transaction: hash });
      return deliver(event);
    };
    await postEvents(book.writer, [place(0, '5'), place(1, '5')], SELLER);
    expect(await unclaimed()).toBe('-16');
    await postEvents(book.writer, [place(3, '9')], SELLER);
    expect(await unclaimed()).toBe('-7');
    await postEvents(book.writer, [place(2, '7')], SELLER);
    expect(await unclaimed()).toBeUndefined();
    expect((await listed()).map(([id]) => id)).toEqual([0, 1, 2, 3].map((log) => `tx:1328:${hash}:${log}`));
    // Nothing is left to ask the chain about, and an answer that repeats itself changes nothing.
    const range = { beforeMs: Date.now() + 60_000, completeFromMs: 0, limit: 10 };
    expect((await readOpenQuestions(book.database, 1328, [SCOPE], range)).ofMoney).toEqual([]);
    expect((await answer(hash, transfers)).bookings).toEqual([]);
  });

  it.each([
    ['another block', [[PAYER, '4']] as [string, string][], '-4'],
    ['no block', null, undefined],
  ])('are counted anew after a reorganisation that has them in %s', async (_, after, left) => {
    const hash = hashOf(73);
    await answer(hash, shown(hash, [PAYER, '4'], [PAYER, '6']));
    await rewind(book.writer, SCOPE, 5);
    const range = { beforeMs: Date.now() + 60_000, completeFromMs: 0, limit: 10 };
    expect((await readOpenQuestions(book.database, 1328, [SCOPE], range)).ofMoney).toEqual([
      { scope: SCOPE, transaction: hash },
    ]);
    const { differences } = await answer(hash, after && shown(hash, ...after));
    expect([differences, await unclaimed()]).toEqual([[], left]);
    expect((await readOpenQuestions(book.database, 1328, [SCOPE], range)).ofMoney).toEqual([]);
  });

  it('are those below a tenth of the cheapest price that was sold at, of this token', async () => {
    expect(await readLeastUnclaimed(book.database, SCOPE)).toBe(0n);
    const sale = (number: number, price: string, more = {}) =>
      deliver(answered(`tx:1328:${hashOf(number)}:0`, { price, transaction: hashOf(number), ...more }));
    const elsewhere = { price: '10', asset: OTHER as `0x${string}` };
    const sales = [sale(1, '40000'), sale(2, '20009'), sale(3, '0'), sale(4, '10', elsewhere)];
    await postEvents(book.writer, [...sales, sale(5, '10', { forOther: true })], SELLER);
    expect(await readLeastUnclaimed(book.database, SCOPE)).toBe(2_000n);
  });
});
