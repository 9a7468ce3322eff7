import {
  answered,
  ASSET,
  deliver,
  hashOf,
  PAY_TO,
  PAYER,
  refused,
  released,
  SELLER,
} from '../../test/sample-events.js';
import { useTestBook } from '../../test/use-test-book.js';
import { readBalances } from '../reading/read-balances.js';
import { readBookedPayment } from '../reading/read-payment.js';
import { verifyBook } from '../reading/verify-book.js';
import { storeDifferences, sumDifferences } from '../reconcile/differences.js';
import { postAnswers, unknownTransaction } from '../reconcile/post-answers.js';
import { postEvents } from './post-events.js';

const BASE = 8453;
const WETH = `0x${'4e'.repeat(20)}` as const;
const OTHER_SHOP = `0x${'5b'.repeat(20)}` as const;
/** USDC on two chains, and another token on the second, paid to another account. */
const TOKENS = [
  ...SELLER,
  { chainId: BASE, asset: ASSET, recipient: PAY_TO },
  { chainId: BASE, asset: WETH, recipient: OTHER_SHOP },
];

describe('a seller that is paid in several tokens', () => {
  const book = useTestBook();
  afterEach(async () => expect((await verifyBook(book.database, [])).broken).toBeNull());

  const post = (...events: Parameters<typeof deliver>[0][]) =>
    postEvents(
      book.writer,
      events.map((event) => deliver(event)),
      TOKENS,
    );
  const owed = async () =>
    (await readBalances(book.database))
      .filter(({ account }) => account.startsWith('owed:'))
      .map(({ account, asset, amount }) => `${account} ${asset} ${amount}`);
  const onBase = (number: number): string => `tx:${BASE}:${hashOf(number)}:0`;
  const refusedIn = (payment: string, asset: typeof WETH | null, amount: string | null) => {
    const event = refused(payment);
    Object.assign(event.facts, { asset, payTo: null, amount });
    return event;
  };

  it('has a transaction of the same hash on two chains as two payments', async () => {
    const sale = { transaction: hashOf(1), network: `eip155:${BASE}`, chainId: BASE, amount: '20000' };
    await post(answered(`tx:1328:${hashOf(1)}:0`), answered(onBase(1), sale));
    const revenue = (await readBalances(book.database)).filter(({ account }) => account.startsWith('revenue:'));
    expect(revenue.map(({ asset, amount }) => [asset, amount])).toEqual([
      [`1328:${ASSET}`, '-10000'],
      [`${BASE}:${ASSET}`, '-20000'],
    ]);
  });

  it('owes what was refused in the token that the event names, at the account that it is paid to', async () => {
    await post(refusedIn(onBase(1), WETH, '700'));
    expect(await owed()).toEqual([`owed:refused ${BASE}:${WETH} -700`]);
    expect(await readBookedPayment(book.database, onBase(1))).toMatchObject({ asset: WETH, recipient: OTHER_SHOP });
  });

  it('owes what was refused at the account that the event names, of several that the token is paid to', async () => {
    const seller = [...TOKENS, { chainId: BASE, asset: WETH, recipient: PAY_TO }];
    const event = refusedIn(onBase(1), WETH, '700');
    Object.assign(event.facts, { payTo: PAY_TO });
    await postEvents(book.writer, [deliver(event), deliver(refusedIn(onBase(2), WETH, '30'))], seller);
    expect(await readBookedPayment(book.database, onBase(1))).toMatchObject({ asset: WETH, recipient: PAY_TO });
    // Of the other, the chain has to say it first.
    expect(await readBookedPayment(book.database, onBase(2))).toMatchObject({ asset: WETH, recipient: null });
    expect(await owed()).toEqual([`owed:refused ${BASE}:${WETH} -700`]);
  });

  it('books nothing of a payment whose token is not known, where the chain has several', async () => {
    await post(refusedIn(onBase(1), null, null), { ...released(onBase(2)), type: 'refunding', facts: CLOSED });
    expect(await owed()).toEqual([]);
    for (const number of [1, 2])
      expect(await readBookedPayment(book.database, onBase(number))).toMatchObject({ asset: null, recipient: null });
  });

  it('takes the only token of a chain for that of a payment that names none', async () => {
    await post(refusedIn(`tx:1328:${hashOf(1)}:0`, null, '700'));
    expect(await owed()).toEqual([`owed:refused 1328:${ASSET} -700`]);
  });

  /** A payer sends 3 base units of each token to the seller in one transaction, and no request presents it. */
  const bookDust = async (seller: typeof TOKENS) => {
    const moved = { transaction: hashOf(1), blockNumber: 5, payer: PAYER, amount: '3', atMs: Date.now() };
    const money = seller.map((scope, logIndex) => ({
      ...{ scope, transaction: hashOf(1) },
      answer: { ...moved, transfers: [{ ...moved, logIndex, payment: `tx:${BASE}:${hashOf(1)}:${logIndex}` }] },
    }));
    const terms = { chainId: BASE, seller, completeFromMs: 0, leastOf: () => 10n };
    await postAnswers(book.writer, { money, gas: new Map(), unreported: [] }, terms);
  };

  it('has the dust of each token of a transaction by itself', async () => {
    await bookDust(TOKENS.slice(1));
    expect((await owed()).toSorted()).toEqual([
      ...[`owed:unclaimed ${BASE}:${WETH} -3`, `owed:unclaimed ${BASE}:${ASSET} -3`].toSorted(),
    ]);
  });

  it('has the dust of each of two accounts of a token by itself', async () => {
    await bookDust([PAY_TO, OTHER_SHOP].map((recipient) => ({ chainId: BASE, asset: ASSET, recipient })));
    const accounts = (await readBalances(book.database)).map(({ account, amount }) => `${account} ${amount}`);
    expect(accounts.toSorted()).toEqual(
      [`chain:${BASE}:${PAY_TO} 3`, `chain:${BASE}:${OTHER_SHOP} 3`, 'owed:unclaimed -6'].toSorted(),
    );
  });

  it('keeps what differs on one chain when the other is compared, also of one account on both', async () => {
    const on = (chainId: number) => unknownTransaction(chainId, OTHER_SHOP, 7, Date.UTC(2026, 10, 25));
    const store = (chainId: number, found: ReturnType<typeof on>[]) =>
      book.writer.write((within) => storeDifferences(within, chainId, found));
    await store(1328, [on(1328)]);
    await store(BASE, [on(BASE)]);
    const assets = async () => (await sumDifferences(book.database)).map(({ asset }) => asset);
    expect(await assets()).toEqual(['1328:native', `${BASE}:native`]);
    await store(1328, []);
    expect(await assets()).toEqual([`${BASE}:native`]);
  });
});

/** A closing names neither token nor amount. */
const CLOSED = { from: 'free', refund: 'refund-1', reason: 'late' } as const;
