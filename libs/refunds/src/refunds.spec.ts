import { planPermitTransfer, PROXIES } from '@tollgate/chain';
import { nameOfPayment, type PaymentId } from '@tollgate/ledger';
import type { Hex, SignedPermit } from '@tollgate/protocol';
import { nameRefund, readRefundJob, RefundRefusedError, type Refund } from '@tollgate/refunds';

import {
  ASSET,
  CHAIN_ID,
  hashOf,
  NO_CAPS,
  OTHER,
  PAYER,
  PRICE,
  RefundWorld,
  SHOP,
  transferLog,
} from '../test/refund-world.js';
import { askForRefund, changeRefund, retryRefund } from './write-refunds.js';

const says = (text: string): unknown => expect.stringContaining(text);

/** How a request is refused. */
const refusal = (reason: string, members: object = {}): unknown =>
  expect.objectContaining({ code: 'refund_refused', members: expect.objectContaining({ reason, ...members }) });

describe('asking for a refund', () => {
  let world: RefundWorld;

  beforeEach(() => {
    world = new RefundWorld();
  });

  it('is the same refund whenever it is asked for in the same terms, and nothing is left for another', async () => {
    const payment = world.payRefused();
    const { id } = await world.ask(payment);
    expect(id).toBe(nameRefund(payment, 1));
    expect(await world.ask(payment)).toMatchObject({ id, state: 'sending' });
    const paid = await world.finish(id);
    expect(await world.ask(payment)).toEqual(paid);
    await expect(world.ask(payment, { number: 2 })).rejects.toEqual(refusal('nothing_left'));
    expect(world.paidTo(PAYER)).toBe(PRICE);
  });

  it('makes one refund of many requests at once', async () => {
    const payment = world.payRefused();
    const asked = await Promise.all(Array.from({ length: 8 }, () => world.ask(payment)));
    expect(new Set(asked.map(({ id }) => id))).toEqual(new Set([nameRefund(payment, 1)]));
    expect([world.book.refunds.length, world.journal.jobs.size]).toEqual([1, 1]);
  });

  it('pays back in parts, never more than what arrived', async () => {
    const payment = world.payRefused();
    const exceeds = (left: string): unknown => refusal('exceeds', { left });
    await expect(world.ask(payment, { amount: '10001' })).rejects.toEqual(exceeds('10000'));
    const first = await world.ask(payment, { amount: '4000' });
    await expect(world.ask(payment, { amount: '4001' })).rejects.toMatchObject({ code: 'refund_differs' });
    await expect(world.ask(payment, { number: 3, amount: '1' })).rejects.toEqual(refusal('number', { next: 2 }));
    await expect(world.ask(payment, { number: 2, amount: '6001' })).rejects.toEqual(exceeds('6000'));
    const second = await world.ask(payment, { number: 2 });
    expect(second.amount).toBe('6000');
    for (const { id } of [first, second]) expect(await world.finish(id)).toMatchObject({ state: 'refunded' });
    expect(await world.refunds.preview(payment)).toMatchObject({ left: '0', obstacles: [{ reason: 'nothing_left' }] });
    expect(world.paidTo(PAYER)).toBe(PRICE);
    // In a book that was restored, the payment may have been paid back more than its refunds say.
    const other = world.payRefused();
    world.book.paymentOf(other).refunded = '4000';
    await expect(world.ask(other, { amount: '6001' })).rejects.toEqual(exceeds('6000'));
  });

  it('pays back at most what arrived of different refunds that are asked for at once', async () => {
    const payment = world.payRefused();
    const requests = [
      { amount: '6000' },
      { amount: '7000' },
      { number: 2, amount: '6000' },
      { number: 2, amount: '4000' },
    ];
    const answers = await Promise.allSettled(requests.map((more) => world.ask(payment, more)));
    const made = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    for (const answer of answers)
      if (answer.status === 'rejected') expect(answer.reason).toBeInstanceOf(RefundRefusedError);
    expect(made.length).toBeGreaterThan(0);
    const sum = made.reduce((units, { amount }) => units + BigInt(amount), 0n);
    for (const { id } of made) await world.finish(id);
    expect(sum).toBeLessThanOrEqual(PRICE);
    expect(world.paidTo(PAYER)).toBe(sum);
  });

  // Prevents: a forged event names a transfer anew, and the transfer is paid back once for each name.
  it('pays a transfer back once, whatever the events call it', async () => {
    const payment = world.payRefused();
    const txHash = world.book.paymentOf(payment).transaction as Hex;
    await world.ask(payment);
    const names: [PaymentId, string][] = [
      [{ kind: 'authorization', chainId: CHAIN_ID, asset: ASSET, from: PAYER, nonce: hashOf(7) }, 'paid_nothing'],
      [{ kind: 'permit2', chainId: CHAIN_ID, owner: PAYER, nonce: '7' }, 'paid_nothing'],
      [{ kind: 'transfer', chainId: 1, txHash, logIndex: 0 }, 'not_on_chain'],
      [{ kind: 'transaction', chainId: CHAIN_ID, txHash }, 'nothing_left'],
    ];
    for (const [forged, reason] of names)
      await expect(world.ask(world.note(forged, txHash))).rejects.toEqual(refusal(reason));
  });

  it('takes of each transfer what it has, and gives it back where the refund ends without paying, once', async () => {
    const txHash = world.mine([transferLog(PAYER, SHOP, 6_000n), transferLog(PAYER, SHOP, 4_000n)]);
    const whole = world.note({ kind: 'transaction', chainId: CHAIN_ID, txHash }, txHash);
    const transfer = (logIndex: number, amount: bigint) =>
      world.note({ kind: 'transfer', chainId: CHAIN_ID, txHash, logIndex }, txHash, { amount });
    const [first, second] = [transfer(0, 6_000n), transfer(1, 4_000n)];
    const takes = () => [...world.book.transfers.values()].map(({ taken }) => taken);
    await world.ask(first, { amount: '5000' });
    expect(await world.refunds.preview(whole)).toMatchObject({ taken: '5000', left: '5000' });
    await expect(world.ask(whole, { amount: '5001' })).rejects.toEqual(refusal('exceeds', { left: '5000' }));
    const both = await world.ask(whole, { amount: '3000' });
    expect(takes()).toEqual(['6000', '2000']);
    await expect(world.ask(second, { amount: '2001' })).rejects.toEqual(refusal('exceeds', { left: '2000' }));
    world.endJob(both.job, 'CANCELLED');
    await world.advance();
    await world.refunds.giveUp(both.id);
    expect(takes()).toEqual(['5000', '0']);
    // A reorganisation has made a transfer less than is taken of it, or less than before.
    const [{ id: known, ...terms }] = (await world.book.listOf(first)) as [Refund];
    const again = (amount: string, arrived: string) => {
      const next = { ...terms, id: `${known}-2`, number: 2, amount, transfers: [{ log: 0, arrived }] };
      return askForRefund(world.ports, next, 'key-1');
    };
    await expect(again('1', '4000')).rejects.toEqual(refusal('exceeds', { left: '0' }));
    await expect(again('501', '5500')).rejects.toEqual(refusal('exceeds', { left: '500' }));
  });

  it('refunds a payment that bought an answer only where that is meant', async () => {
    const payment = world.paySold();
    expect(await world.refunds.preview(payment)).toMatchObject({
      boughtAnswer: true,
      obstacles: [{ reason: 'answered' }],
    });
    await expect(world.ask(payment)).rejects.toEqual(refusal('answered'));
    const { id } = await world.ask(payment, { answered: true });
    expect(await world.finish(id)).toMatchObject({ state: 'refunded', answered: true });
    await expect(world.ask(payment)).rejects.toMatchObject({ code: 'refund_differs' });
  });

  it('refuses what the book does not know', async () => {
    const unknown = `tx:${CHAIN_ID}:${hashOf(9)}:0`;
    await expect(world.ask(unknown)).rejects.toMatchObject({ code: 'book_payment_not_found' });
    await expect(world.refunds.preview('nothing')).rejects.toMatchObject({ code: 'book_payment_not_found' });
    await expect(world.refunds.read('r1')).rejects.toMatchObject({ code: 'refund_not_found' });
  });

  it.each<[string, (payment: string) => unknown]>([
    ['book_incomplete', () => (world.book.times = { completeFromMs: null, gapEndMs: null })],
    ['withdrawn', (payment) => (world.book.paymentOf(payment).state = 'withdrawn')],
    ['not_arrived', (payment) => (world.book.paymentOf(payment).amount = null)],
    ['other_asset', (payment) => (world.book.paymentOf(payment).asset = OTHER)],
    ['other_recipient', (payment) => (world.book.paymentOf(payment).recipient = OTHER)],
    ['not_on_chain', () => world.chain.transactions.clear()],
    ['amount_differs', (payment) => (world.book.paymentOf(payment).amount = '9999')],
    ['wallet_missing', () => (world.journal.wallet = null)],
    ['decimals_differ', () => (world.chain.decimals = 18n)],
  ])('is refused, and nothing is closed: %s', async (reason, change) => {
    const payment = world.payRefused();
    change(payment);
    await expect(world.ask(payment)).rejects.toMatchObject({ members: { obstacles: expect.any(Array) } });
    const { obstacles } = await world.refunds.preview(payment);
    expect(obstacles.map((one) => one.reason)).toContain(reason);
    expect([world.book.refunds.length, world.ledger.stateOf(payment)]).toEqual([0, 'free']);
  });

  describe('of a transfer that a permit caused', () => {
    let permit: PaymentId;
    let payment: string;

    /** Sent by its payer, and in the book under the name of the transaction. */
    beforeEach(() => {
      const permit2Authorization = {
        from: PAYER,
        spender: PROXIES.exact,
        nonce: '5',
        deadline: '9999999999',
        permitted: { token: ASSET, amount: String(PRICE) },
        witness: { to: SHOP, validAfter: '0' },
      };
      const signature = `0x${'12'.repeat(65)}`;
      const signed = { kind: 'permit2', scheme: 'exact', permit2Authorization, signature } as SignedPermit;
      const { to, data: input } = planPermitTransfer(signed, PRICE);
      const settled = { address: PROXIES.exact, topics: [SETTLED], data: '0x' as const };
      const txHash = world.mine([transferLog(PAYER, SHOP, PRICE), settled], { from: PAYER, to, input });
      permit = { kind: 'permit2', chainId: CHAIN_ID, owner: PAYER, nonce: '5' };
      payment = world.note({ kind: 'transfer', chainId: CHAIN_ID, txHash, logIndex: 0 }, txHash);
    });

    it('closes the permit too, so that it buys nothing afterwards, and books the money once', async () => {
      const name = nameOfPayment(permit);
      expect(await world.refunds.preview(payment)).toMatchObject({ permit: name, doubts: [], obstacles: [] });
      const { id } = await world.ask(payment);
      expect([world.ledger.stateOf(name), world.ledger.stateOf(payment)]).toEqual(['closed', 'closed']);
      expect(await world.finish(id)).toMatchObject({ state: 'refunded' });
      expect(world.book.payments.has(name)).toBe(false);
    });

    it.each(['leased', 'answered'])('is refused while the permit is %s', async (state) => {
      world.ledger.put(nameOfPayment(permit), state);
      await expect(world.ask(payment)).rejects.toEqual(refusal('ledger'));
      expect(world.ledger.stateOf(payment)).toBe('free');
    });
  });
});

/** What the proxy of Permit2 emits. */
const SETTLED: Hex = '0x97088ec3606cfe8cc112180570d03fcde05f9b8e1bfef8e27784eaf5dd5691b6';

describe('the limits of refunds', () => {
  const caps = (more: Partial<typeof NO_CAPS>) => ({ caps: { ...NO_CAPS, ...more } });
  const overCap = (cap: string, left: string): unknown => refusal('over_cap', { cap, left });

  it.each([
    ['each', { each: 9_999n }, '9999'],
    ['perPayerAndDay', { perPayerAndDay: 12_000n }, '2000'],
    ['perKeyAndDay', { perKeyAndDay: 12_000n }, '2000'],
    ['perDay', { perDay: 10_000n }, '0'],
  ] as const)('are kept to, also for many small ones: %s', async (cap, limits, left) => {
    const world = new RefundWorld({ caps: { ...NO_CAPS, ...limits } });
    if (cap !== 'each') await world.ask(world.payRefused());
    const payment = world.payRefused();
    await expect(world.ask(payment)).rejects.toEqual(overCap(cap, left));
    if (left !== '0') expect(await world.ask(payment, { amount: '1000' })).toMatchObject({ state: 'sending' });
  });

  it('are those of each payer, and of each key', async () => {
    const byPayer = new RefundWorld(caps({ perPayerAndDay: PRICE }));
    const byKey = new RefundWorld(caps({ perKeyAndDay: PRICE }));
    for (const world of [byPayer, byKey]) await world.ask(world.payRefused());
    expect(await byPayer.ask(byPayer.payRefused({ from: OTHER }))).toMatchObject({ state: 'sending' });
    expect(await byKey.ask(byKey.payRefused(), {}, 'key-2')).toMatchObject({ state: 'sending' });
  });

  it('count a refund on the day on which it is sent again, and for the key that does it; never against itself', async () => {
    const world = new RefundWorld(caps({ perKeyAndDay: PRICE }));
    const failed: Refund[] = [];
    for (const key of ['key-1', 'key-2']) {
      const { id, job } = await world.ask(world.payRefused(), {}, key);
      world.endJob(job, 'REVERTED');
      await world.advance();
      failed.push(await world.refunds.read(id));
    }
    const [first, second] = failed as [Refund, Refund];
    expect(await world.refunds.retry('key-1', first.id)).toMatchObject({ attempt: 2 });
    await expect(world.refunds.retry('key-1', second.id)).rejects.toEqual(overCap('perKeyAndDay', '0'));
    world.pass(86_400_000);
    expect(await world.refunds.retry('key-1', second.id)).toMatchObject({ attempt: 2 });
    expect(await world.refunds.readToday({ chainId: CHAIN_ID, asset: ASSET })).toBe(PRICE);
  });

  it('hold for no refund while ASSET_DECIMALS is not what the token has', async () => {
    const world = new RefundWorld();
    const { id, job } = await world.ask(world.payRefused());
    world.endJob(job, 'REVERTED');
    await world.advance();
    world.chain.decimals = 18n;
    await expect(world.ask(world.payRefused())).rejects.toEqual(refusal('decimals_differ'));
    await expect(world.refunds.retry('key-1', id)).rejects.toEqual(refusal('decimals_differ'));
  });
});

describe('what a second person looks at', () => {
  let world: RefundWorld;

  beforeEach(() => {
    world = new RefundWorld({ approvalAbove: 500_000n });
  });

  const jobOf = ({ job }: Refund) => readRefundJob(world.journal.jobOf(job));

  it.each<[string, () => string, string]>([
    ['a contract', () => (world.chain.contracts.add(PAYER), world.payRefused()), 'The payer is a contract'],
    ['what Redis may have lost', () => world.payRefused({ failure: 'older_than_ledger' }), 'may have bought an answer'],
    ['a large amount', () => world.payRefused({ amount: 600_000n }), 'REFUND_APPROVAL_ABOVE'],
    [
      'one of several payers',
      () => {
        const txHash = world.mine([transferLog(PAYER, SHOP, PRICE), transferLog(OTHER, SHOP, PRICE)]);
        return world.note({ kind: 'transfer', chainId: CHAIN_ID, txHash, logIndex: 0 }, txHash);
      },
      'Several payers paid',
    ],
    [
      'a permit that another contract has sent',
      () => {
        const settled = { address: PROXIES.exact, topics: [SETTLED], data: '0x' as const };
        const txHash = world.mine([transferLog(PAYER, SHOP, PRICE), settled], { to: OTHER });
        return world.note({ kind: 'transfer', chainId: CHAIN_ID, txHash, logIndex: 0 }, txHash);
      },
      'A permit moved the money, sent through another contract',
    ],
    [
      'a transaction about which book and chain differ',
      () => {
        const payment = world.payRefused();
        world.book.differences.add(world.book.paymentOf(payment).transaction!);
        return payment;
      },
      'Book and chain differ',
    ],
    [
      'an event that could not be booked',
      () => {
        const payment = world.payRefused();
        world.book.unapplied.add(payment);
        return payment;
      },
      'could not book',
    ],
    [
      'what was paid before the last gap of the book, also where it bought an answer',
      () => {
        const payment = world.payRefused();
        Object.assign(world.book.paymentOf(payment).reported, { answered: {} });
        world.pass();
        world.book.copy()();
        return payment;
      },
      'may have been paid back already',
    ],
  ])('is %s', async (_, pay, doubt) => {
    const asked = await world.ask(pay(), { answered: true });
    expect(asked).toMatchObject({ state: 'sending', doubts: [says(doubt)] });
    expect(jobOf(asked)).toMatchObject({ needsApproval: true });
  });

  it('is the part with which a payment has had a large amount paid back', async () => {
    const payment = world.payRefused({ amount: 600_000n });
    const first = await world.ask(payment, { amount: '300000' });
    expect([first.doubts, jobOf(first)?.needsApproval]).toEqual([[], false]);
    const second = await world.ask(payment, { amount: '300000', number: 2 });
    expect(second.doubts).toEqual([says('REFUND_APPROVAL_ABOVE')]);
  });
});

describe('a refund that has failed', () => {
  let world: RefundWorld;
  let payment: string;
  let id: string;

  beforeEach(async () => {
    world = new RefundWorld();
    payment = world.payRefused();
    const asked = await world.ask(payment);
    ({ id } = asked);
    world.endJob(asked.job, 'CANCELLED');
    await world.advance();
  });

  it('keeps its amount until it is given up, and is followed by the next number', async () => {
    expect(await world.refunds.preview(payment)).toMatchObject({ left: '0', arrived: String(PRICE) });
    expect(await world.refunds.giveUp(id)).toMatchObject({ state: 'given_up' });
    expect(world.ledger.stateOf(payment)).toBe('closed');
    expect(await world.refunds.preview(payment)).toMatchObject({ number: 2, left: String(PRICE) });
    const second = await world.ask(payment, { number: 2 });
    expect(await world.finish(second.id)).toMatchObject({ state: 'refunded', number: 2 });
    await expect(world.refunds.retry('key-1', id)).rejects.toEqual(refusal('state', { state: 'given_up' }));
  });

  it('is named as it is by then where somebody retries it while it is given up', async () => {
    const failed = await world.refunds.read(id);
    const read = world.book.read.bind(world.book);
    // Between the reading of the refund and the decision.
    world.book.read = async (asked) => {
      world.book.read = read;
      const found = await read(asked);
      await retryRefund(world.ports, failed, 'another');
      return found;
    };
    await expect(world.refunds.giveUp(id)).rejects.toMatchObject({ message: says('Somebody else has retried it') });
    await expect(retryRefund(world.ports, failed, 'key-1')).rejects.toEqual(refusal('state'));
    const { job } = await world.refunds.advance(await world.refunds.read(id));
    world.endJob(job, 'CANCELLED');
    await world.advance();
    expect(await changeRefund(world.book, failed, ['failed'], { state: 'given_up' })).toBeNull();
    expect(await world.refunds.read(id)).toMatchObject({ state: 'failed', attempt: 2 });
  });
});
