import { randomBytes } from 'node:crypto';

import type { BookEvent, RefundedFacts } from '@tollgate/book-events';

import { askForRefunds } from '../../test/ask-for-refunds.js';
import {
  answered,
  ASSET,
  authorizationId,
  deliver,
  hashOf,
  PAY_TO,
  PAYER,
  refunded,
  refunding,
  refused,
  RELAYER,
  released,
  SELLER,
  settled,
  transferId,
} from '../../test/sample-events.js';
import { useTestBook } from '../../test/use-test-book.js';
import { readAudit } from '../reading/read-audit.js';
import { readBalances } from '../reading/read-balances.js';
import { readBookedPayment } from '../reading/read-payment.js';
import { searchPayments } from '../reading/search-payments.js';
import { verifyBook } from '../reading/verify-book.js';
import { bookUnapplied } from './book-events.js';
import { postEvents } from './post-events.js';

const CHAIN = `chain:1328:${PAY_TO}`;
const TOKEN = `1328:${ASSET}`;
/** A payment that the facilitator settled for another seller. */
const OTHER = { route: 'facilitator', payTo: `0x${'0e'.repeat(20)}`, forOther: true } as const;

describe('posting events', () => {
  const book = useTestBook({ isKept: true });
  let number = 0;

  afterEach(async () => {
    expect((await verifyBook(book.database, [])).broken).toBeNull();
  });

  /** By account, what these events add to the balances in base units of the token. */
  async function post(...events: BookEvent[]): Promise<Record<string, bigint>> {
    const before = await read();
    await askForRefunds(book.database, ...events);
    await book.post(...events);
    const after = await read();
    const changes = new Map(after);
    for (const [account, amount] of before) changes.set(account, (changes.get(account) ?? 0n) - amount);
    return Object.fromEntries([...changes].filter(([, amount]) => amount !== 0n));
  }

  function settledForOther(payment: string): BookEvent {
    const { payTo, forOther } = OTHER;
    const moved = { payment, asset: ASSET, payTo, forOther, payer: PAYER, amount: '10000', logIndex: 0 };
    return settled([], { transaction: hashOf(500 + number), payments: [moved] });
  }

  async function read(): Promise<Map<string, bigint>> {
    const balances = await readBalances(book.database);
    const sums = new Map<string, bigint>();
    for (const { asset, amount } of balances) sums.set(asset, (sums.get(asset) ?? 0n) + BigInt(amount));
    expect([...sums.values()].every((sum) => sum === 0n)).toBe(true);
    const names = balances.map(({ account, asset }) => (asset === TOKEN ? account : `${account} in ${asset}`));
    return new Map(balances.map(({ amount }, index) => [names[index] ?? '', BigInt(amount)]));
  }

  it('books an answer of a route that is too long for an index', async () => {
    const [route, text] = [`/${randomBytes(3_000).toString('hex')}`, randomBytes(3_000).toString('hex')];
    const changes = await post(answered(transferId(++number), { route, requestId: text, path: route, query: text }));
    expect(changes[`revenue:${route.slice(0, 500)}`]).toBe(-10000n);
    const kept = { path: route.slice(0, 1_024), query: text.slice(0, 1_024) };
    expect(await readBookedPayment(book.database, transferId(number))).toMatchObject(kept);
  });

  it('books an answer as revenue of its route', async () => {
    const id = transferId(++number);
    expect(await post(answered(id))).toEqual({ [CHAIN]: 10_000n, 'revenue:/api/weather': -10_000n });
    expect(await readBookedPayment(book.database, id)).toMatchObject({
      state: 'answered',
      amount: '10000',
      payer: PAYER,
      requestId: 'request-1',
      timeline: ['presented', 'verified', 'claimed', 'fulfilled', 'answered'].map((step) => ({ step })),
      entries: [{ account: CHAIN }, { account: 'revenue:/api/weather' }],
    });
  });

  it.each([
    ['of one millisecond', 0],
    ['by a clock of the gateway that is ahead of that of Redis', Date.UTC(2100, 0)],
  ])('lists the steps %s in the order in which they follow each other', async (_, atMs) => {
    const id = transferId(++number);
    const times = {
      presentedAtMs: atMs,
      claimedAtMs: atMs,
      verifiedAtMs: atMs,
      fulfilledAtMs: atMs,
      settledAtMs: atMs,
    };
    await post(answered(id, { timeline: times, path: '/api/weather/Bern', query: 'a=1' }));
    const timeline = (await readBookedPayment(book.database, id))?.timeline;
    expect(timeline?.[0]).toMatchObject({ detail: 'GET /api/weather/Bern?a=1' });
    expect(timeline?.map(({ step }) => step)).toEqual([
      'presented',
      'claimed',
      'verified',
      'fulfilled',
      'settled',
      'answered',
    ]);
  });

  it('changes nothing when an event is delivered again, in the same batch or later', async () => {
    const event = answered(transferId(++number));
    const one = deliver(event);
    expect(await postEvents(book.writer, [one, one], SELLER)).toMatchObject({ events: 1, bookings: 1 });
    expect(await postEvents(book.writer, [one], SELLER)).toEqual({ events: 0, unread: 0, refused: 0, bookings: 0 });
    // A Redis that was restored from a copy reports the same under another id.
    expect(await book.post(event)).toEqual({
      events: 1,
      unread: 0,
      refused: 0,
      bookings: 0,
    });
  });

  it('owes what was refused, and moves it to the revenue when it is redeemed after all', async () => {
    const id = transferId(++number);
    expect(await post(refused(id))).toEqual({ [CHAIN]: 10_000n, 'owed:refused': -10_000n });
    expect(await post(refused(id, { count: 4 }))).toEqual({});
    expect(await readBookedPayment(book.database, id)).toMatchObject({ state: 'refused', reason: 'payment_too_old' });
    expect(await post(answered(id))).toEqual({ 'owed:refused': 10_000n, 'revenue:/api/weather': -10_000n });
  });

  it('owes what was below the price, and earns it when it buys something cheaper, whichever event comes first', async () => {
    const [first, second] = [transferId(++number), transferId(++number)];
    const terms = { failure: 'amount_too_low', amount: '400' };
    expect(await post(refused(first, terms))).toEqual({ [CHAIN]: 400n, 'owed:refused': -400n });
    expect(await readBookedPayment(book.database, first)).toMatchObject({ state: 'refused', reason: 'amount_too_low' });
    expect(await post(answered(first, { amount: '400', price: '400' }))).toEqual({
      'owed:refused': 400n,
      'revenue:/api/weather': -400n,
    });
    await post(answered(second, { amount: '400', price: '400' }));
    expect(await post(refused(second, terms))).toEqual({});
    expect(await readBookedPayment(book.database, second)).toMatchObject({ state: 'answered', amount: '400' });
  });

  it('books nothing for a signature that moved no money', async () => {
    expect(await post(released(authorizationId(++number), { transaction: null }))).toEqual({});
  });

  it('books a settlement once: the gas as an expense, the money for its payer until the answer', async () => {
    const id = authorizationId(++number);
    const event = settled([id], { transaction: hashOf(500 + number) });
    const [gas, wallet] = [`gas:${RELAYER} in 1328:native`, `chain:1328:${RELAYER} in 1328:native`];
    expect(await post(event, event)).toEqual({
      [CHAIN]: 10_000n,
      [`payer:${PAYER}`]: -10_000n,
      [gas]: 120_000_000_000_000n,
      [wallet]: -120_000_000_000_000n,
    });
    expect(await post(answered(id, { transaction: hashOf(500 + number) }))).toEqual({
      [`payer:${PAYER}`]: 10_000n,
      'revenue:/api/weather': -10_000n,
    });
  });

  it.each<[string, (id: string) => BookEvent[]]>([
    ['settled', (id) => [settledForOther(id)]],
    ['settled and answered', (id) => [settledForOther(id), answered(id, OTHER)]],
    ['answered before its settlement is known', (id) => [answered(id, OTHER), settledForOther(id)]],
    ['released', (id) => [released(id, OTHER)]],
    ['settled, refused and closed', (id) => [refused(id), settledForOther(id), refunding(id)]],
  ])("books only the gas of another seller's payment that is %s", async (_, eventsOf) => {
    const events = eventsOf(authorizationId(++number));
    const id = authorizationId(number);
    const changes = await post(...events);
    const gas = 120_000_000_000_000n;
    const isSent = events.some(({ type }) => type === 'settled');
    const spent = { [`gas:${RELAYER} in 1328:native`]: gas, [`chain:1328:${RELAYER} in 1328:native`]: -gas };
    expect(changes).toEqual(isSent ? spent : {});
    const { payments } = await searchPayments(book.database, { owed: true, reference: id }, { limit: 1 });
    expect(payments).toEqual([]);
    expect(await readBookedPayment(book.database, id)).toMatchObject({ recipient: OTHER.payTo, forOther: true });
  });

  it('pays a debt with the refund of what bought nothing, and lowers revenue with any other', async () => {
    const [owed, sold] = [transferId(++number), transferId(++number)];
    expect(await post(refused(owed), refunding(owed), refunded(owed, '10000'))).toEqual({
      [CHAIN]: 10_000n,
      'chain:1328:refunds': -10_000n,
    });
    expect(await post(answered(sold), refunding(sold), refunded(sold, '4000'))).toEqual({
      [CHAIN]: 10_000n,
      'revenue:/api/weather': -10_000n,
      refunds: 4_000n,
      'chain:1328:refunds': -4_000n,
    });
    expect(await readBookedPayment(book.database, sold)).toMatchObject({ state: 'refunded', refunded: '4000' });
  });

  it('refuses a refund of more than what arrived, whole batch included', async () => {
    const [id, other] = [transferId(++number), transferId(++number)];
    await expect(post(answered(other), answered(id), refunded(id, '10001'))).rejects.toThrow(/refunds_at_most/);
    expect(await readBookedPayment(book.database, other)).toBeNull();
  });

  describe('of a refund that the book', () => {
    const PAID = hashOf(901);

    /** An event of a refund that the book has asked for, with changes. */
    async function postRefund(change: Partial<RefundedFacts> & { payment?: string }) {
      const { payment: other, ...facts } = change;
      const payment = transferId(++number);
      await post(refused(payment), refunding(payment));
      const asked = refunded(payment, '4000', PAID);
      await askForRefunds(book.database, asked);
      const event = { ...asked, payment: other ?? payment, facts: { ...asked.facts, ...facts } } as BookEvent;
      const posted = await book.post(event, answered(transferId(++number)));
      return { posted, picture: await readBookedPayment(book.database, payment) };
    }

    it('has asked for, books it', async () => {
      const { posted, picture } = await postRefund({});
      expect(posted).toMatchObject({ events: 2, refused: 0 });
      expect(picture).toMatchObject({ state: 'refunded', refunded: '4000' });
    });

    // Prevents: a forged event makes the book count a payer as paid back.
    it.each([
      ['does not know', { refund: 'r0-1' }],
      ['knows of another payment', { payment: transferId(1) }],
      ['knows of another amount', { amount: '10000' }],
      ['knows as paid by another transaction', { transaction: hashOf(902) }],
      ['knows as paid to another payer', { recipient: RELAYER }],
    ])('%s, keeps the event aside and books the others', async (_, change) => {
      const { posted, picture } = await postRefund(change);
      expect(posted).toMatchObject({ events: 1, refused: 1 });
      expect(picture).toMatchObject({ state: 'refunding', refunded: '0' });
    });

    it('has not paid yet, keeps the event aside until it has', async () => {
      const payment = transferId(++number);
      const event = refunded(payment, '4000', PAID);
      await post(refused(payment), refunding(payment));
      await askForRefunds(book.database, event);
      await book.database.query('UPDATE refunds SET transaction = NULL WHERE payment = $1', [payment]);
      const delivered = deliver(event);
      expect(await postEvents(book.writer, [delivered], SELLER)).toMatchObject({ events: 0, refused: 1, bookings: 0 });
      await book.database.query('UPDATE refunds SET transaction = $2 WHERE payment = $1', [payment, PAID]);
      expect(await postEvents(book.writer, [delivered], SELLER)).toMatchObject({ events: 1, refused: 0, bookings: 1 });
    });
  });

  it('corrects an amount that the chain shows otherwise with a further booking', async () => {
    const id = authorizationId(++number);
    const transaction = hashOf(700 + number);
    await post(answered(id, { amount: '9000', transaction }));
    expect(await post(settled([id], { transaction, effectiveGasPrice: null }))).toEqual({
      [CHAIN]: 1_000n,
      'revenue:/api/weather': -1_000n,
    });
  });

  it('ends with the same balances in whatever order the events come', async () => {
    const orders = permute(['refused', 'settled', 'answered', 'refunding', 'refunded']);
    const results = new Set<string>();
    for (const order of orders.filter((_, index) => index % 6 === 0)) {
      const id = authorizationId(++number);
      const transaction = hashOf(10_000 + number);
      const events: Record<string, BookEvent> = {
        refused: refused(id),
        answered: answered(id, { transaction }),
        refunding: refunding(id),
        settled: settled([id], { transaction, effectiveGasPrice: null }),
        refunded: refunded(id, '10000'),
      };
      const changes = await post(...order.flatMap((name) => events[name] ?? []));
      results.add(
        JSON.stringify(Object.entries(changes).sort(), (_, value: unknown) =>
          typeof value === 'bigint' ? String(value) : value,
        ),
      );
    }
    expect(results.size).toBe(1);
  });

  it('keeps the balances that the entries sum to, and none of 0', async () => {
    await post(settled([authorizationId(++number)], { transaction: hashOf(700) }), answered(authorizationId(number)));
    const balances = await readBalances(book.database);
    expect(balances.length).toBeGreaterThan(3);
    expect(balances.filter(({ account }) => account.startsWith('payer:'))).toEqual([]);
    const sums = `SELECT account, asset, sum(amount) AS amount FROM entries GROUP BY account, asset HAVING sum(amount) <> 0
      ORDER BY account, asset`;
    const kept = await book.database.query('SELECT account, asset, amount FROM balances ORDER BY account, asset');
    expect(kept).toEqual(await book.database.query(sums));
  });

  it('adds an act without the operator API to the audit table, once', async () => {
    const facts = { keyId: 'worker', action: 'wallet.fill', subject: 'main', details: { nonce: 41 } } as const;
    const act = deliver({ type: 'acted', atMs: 1_700_000_000_000, payment: '', facts });
    for (const events of [[act, act], [act]]) await postEvents(book.writer, events, SELLER);
    const { acts } = await readAudit(book.database, { limit: 9 });
    expect(acts).toEqual([
      {
        id: expect.any(Number),
        at: '2023-11-14T22:13:20.000Z',
        keyId: 'worker',
        requestId: '',
        action: 'wallet.fill',
        subject: 'main',
      },
    ]);
  });

  it('keeps an event of a later version, and posts it once it can be read', async () => {
    const readable = deliver(answered(transferId(++number)));
    const fields = readable.fields.map((field, index) => (index === 1 ? '2' : field));
    const later = { ...readable, fields, event: { type: 'unknown', why: 'version', fields: {} } as const };
    expect(await postEvents(book.writer, [later], SELLER)).toEqual({ events: 1, unread: 1, refused: 0, bookings: 0 });
    expect(await bookUnapplied(book.writer, SELLER)).toMatchObject({ events: 0 });
    // What a release that knows the version would find.
    await book.database.query(`UPDATE events SET fields = $1::jsonb WHERE id = $2`, [
      JSON.stringify(readable.fields),
      later.id,
    ]);
    expect(await bookUnapplied(book.writer, SELLER)).toMatchObject({ events: 1, unread: 0, bookings: 1 });
    expect(await bookUnapplied(book.writer, SELLER)).toMatchObject({ events: 0 });
  });
});

function permute(names: readonly string[]): string[][] {
  if (names.length <= 1) return [[...names]];
  return names.flatMap((name) => permute(names.filter((other) => other !== name)).map((rest) => [name, ...rest]));
}
