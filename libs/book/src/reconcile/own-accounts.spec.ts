import { answered, ASSET, deliver, hashOf, PAY_TO, PAYER } from '../../test/sample-events.js';
import { useTestBook } from '../../test/use-test-book.js';
import { postEvents } from '../posting/post-events.js';
import { readBalances } from '../reading/read-balances.js';
import { verifyBook } from '../reading/verify-book.js';
import { countWaiting, readLostTransfers, readOpenQuestions } from './open-questions.js';
import { postAnswers } from './post-answers.js';
import { beginAt, matchTransfers, storePage } from './store-transfers.js';

const SECOND = `0x${'b1'.repeat(20)}` as const;
const WETH = `0x${'4e'.repeat(20)}` as const;
/** Another token's account, and one of the same token on another chain. */
const [WETH_SHOP, BASE_SHOP] = [`0x${'b2'.repeat(20)}`, `0x${'b3'.repeat(20)}`] as const;
const SCOPE = { chainId: 1328, asset: ASSET, recipient: SECOND };
const SELLER = [
  { chainId: 1328, asset: ASSET, recipient: PAY_TO },
  SCOPE,
  { chainId: 1328, asset: WETH, recipient: WETH_SHOP },
  { chainId: 8453, asset: ASSET, recipient: BASE_SHOP },
];
const AT_MS = Date.UTC(2026, 10, 26);
const HASH = hashOf(1);
const PAYMENT = `tx:1328:${HASH}:0`;

/** A seller whose token is paid to two accounts, and that moves its money from one to the other. */
describe('a transfer to an account of the seller', () => {
  const book = useTestBook();
  beforeEach(() => beginAt(book.writer, SCOPE, 1));
  afterEach(async () => expect((await verifyBook(book.database, [])).broken).toBeNull());

  const createTransfer = (payer: string, amount = '10000', logIndex = 0) => {
    const where = { transaction: HASH, logIndex, blockNumber: 5, atMs: AT_MS };
    return { ...where, payer, amount, payment: `tx:1328:${HASH}:${logIndex}` };
  };
  type Transfer = ReturnType<typeof createTransfer>;
  const show = (...transfers: Transfer[]) =>
    storePage(book.writer, SCOPE, { transfers, end: { number: 9, hash: hashOf(9) }, endAtMs: AT_MS });
  const ask = async (completeFromMs = 0) =>
    (
      await readOpenQuestions(book.database, 1328, [SCOPE], {
        ...{ beforeMs: Date.now() + 60_000, completeFromMs, limit: 10 },
      })
    ).ofMoney.map(({ transaction }) => transaction);
  const answer = (...transfers: Transfer[]) =>
    postAnswers(
      book.writer,
      {
        ...{ gas: new Map(), unreported: [] },
        money: [{ scope: SCOPE, transaction: HASH, answer: { blockNumber: 5, atMs: AT_MS, transfers } }],
      },
      { chainId: 1328, seller: SELLER, completeFromMs: 0, leastOf: () => 1_000n },
    );
  const balances = async () =>
    (await readBalances(book.database)).map(({ account, amount }) => `${account} ${amount}`).toSorted();

  it.each([
    ['is booked as unclaimed', PAYER, ['10000', '10']],
    ['is booked as unclaimed', WETH_SHOP, ['10000', '10']],
    ['is booked as unclaimed', BASE_SHOP, ['10000', '10']],
    ['is not booked', PAY_TO, []],
  ])('%s if it is from %s', async (_, payer, booked) => {
    const transfers = [createTransfer(payer), createTransfer(payer, '10', 1)];
    await show(...transfers);
    expect(await ask()).toEqual([HASH]);
    const { differences } = await answer(...transfers);
    const sum = booked.reduce((units, amount) => units + Number(amount), 0);
    expect(await balances()).toEqual(sum === 0 ? [] : [`chain:1328:${SECOND} ${sum}`, `owed:unclaimed -${sum}`]);
    expect(differences).toEqual([]);
    expect(await ask()).toEqual([]);
    expect(await countWaiting(book.database, SCOPE, 0)).toEqual({ transfers: 0, payments: 0 });
  });

  const sale = answered(PAYMENT, { payTo: SECOND, payer: PAY_TO, transaction: HASH });

  it('is a payment of one of them if an event says so before the chain shows it', async () => {
    await postEvents(book.writer, [deliver(sale)], SELLER);
    await show(createTransfer(PAY_TO));
    expect(await ask()).toEqual([]);
    expect(await balances()).toEqual([`chain:1328:${SECOND} 10000`, 'revenue:/api/weather -10000']);
  });

  it('is a payment of one of them if an event says so while the chain shows it', async () => {
    await show(createTransfer(PAY_TO));
    await postEvents(book.writer, [deliver(sale)], SELLER);
    await book.writer.write((within) => matchTransfers(within, SCOPE));
    expect(await ask()).toEqual([]);
    expect(await balances()).toEqual([`chain:1328:${SECOND} 10000`, 'revenue:/api/weather -10000']);
  });

  it('is a payment of one of them if an event says so after it was left out', async () => {
    await show(createTransfer(PAY_TO));
    await answer(createTransfer(PAY_TO));
    await postEvents(book.writer, [deliver(sale)], SELLER);
    expect(await ask()).toEqual([HASH]);
    const { differences } = await answer(createTransfer(PAY_TO));
    expect(differences).toEqual([]);
    expect(await ask()).toEqual([]);
    expect(await balances()).toEqual([`chain:1328:${SECOND} 10000`, 'revenue:/api/weather -10000']);
  });

  it('is a payment of one of them also if the chain corrects its amount, beside what is only moved', async () => {
    await postEvents(book.writer, [deliver(sale)], SELLER);
    const transfers = [createTransfer(PAY_TO, '9000'), createTransfer(PAY_TO, '70000', 1)];
    await show(...transfers);
    expect(await ask()).toEqual([HASH]);
    await answer(...transfers);
    expect(await ask()).toEqual([]);
    expect(await balances()).toEqual([`chain:1328:${SECOND} 9000`, 'revenue:/api/weather -9000']);
  });

  it.each([
    ['is listed as lost', PAYER, ['10000']],
    ['is not listed as lost', PAY_TO, []],
  ])('from before the book was complete %s if it is from %s', async (_, payer, listed) => {
    await show(createTransfer(payer));
    const lost = await readLostTransfers(book.database, SCOPE, {
      ...{ seller: SELLER, completeFromMs: AT_MS + 1, limit: 10 },
    });
    expect(lost.map(({ amount }) => amount)).toEqual(listed);
  });
});
