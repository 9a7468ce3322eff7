import type { CrashPoint } from '@tollgate/journal';
import type { PaymentId } from '@tollgate/ledger';
import type { Hex } from '@tollgate/protocol';
import { readRefundJob, type Refund } from '@tollgate/refunds';

import { ASSET, CHAIN_ID, hashOf, OTHER, PAYER, PRICE, RefundWorld, SHOP, transferLog } from '../test/refund-world.js';

const AUTHORIZATION_USED: Hex = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5';

describe('the steps of a refund', () => {
  let world: RefundWorld;

  beforeEach(() => {
    world = new RefundWorld();
  });

  afterEach(() => {
    globalThis.tollgateCrashPoint = undefined;
  });

  const jobOf = ({ job }: Refund) => readRefundJob(world.journal.jobOf(job));
  const says = (text: string): unknown => expect.stringContaining(text);

  it('close the payment, write the job, watch it, and book it', async () => {
    const payment = world.payRefused();
    const asked = await world.ask(payment, { reason: 'came too late' });
    expect(asked).toMatchObject({
      state: 'sending',
      recipient: PAYER,
      amount: String(PRICE),
      doubts: [],
      detail: null,
    });
    expect(world.ledger.stateOf(payment)).toBe('closed');
    expect(world.book.payments.get(payment)).toMatchObject({ state: 'refunding' });
    const input = { refund: asked.id, attempt: 1, payment, amount: String(PRICE), to: PAYER, needsApproval: false };
    expect(jobOf(asked)).toMatchObject(input);
    await world.advance();
    expect(await world.refunds.read(asked.id)).toEqual(asked);
    const transaction = world.sendJob(asked.job);
    await world.advance();
    expect(await world.refunds.read(asked.id)).toMatchObject({ state: 'refunded', transaction, attempt: 1 });
    expect(world.book.payments.get(payment)).toMatchObject({ state: 'refunded', refunded: String(PRICE) });
    expect(world.paidTo(PAYER)).toBe(PRICE);
  });

  it.each<CrashPoint>(['R1', 'R2', 'R3', 'R4', 'R5', 'R6'])(
    'pay back once where the bookkeeper is killed at %s',
    async (point) => {
      const payment = world.payRefused();
      globalThis.tollgateCrashPoint = (reached) => {
        if (reached === point) throw new Error('killed');
      };
      const isEarly = point < 'R5';
      const asked = world.ask(payment);
      if (isEarly) await expect(asked).rejects.toThrow('killed');
      else {
        world.sendJob((await asked).job);
        await expect(world.advance()).rejects.toThrow('killed');
      }
      globalThis.tollgateCrashPoint = undefined;
      world.restart();
      // By itself, and by the same command.
      await world.advance();
      const { id } = await world.ask(payment);
      expect(await world.finish(id)).toMatchObject({ state: 'refunded', attempt: 1 });
      expect(world.journal.jobs.size).toBe(1);
      expect(world.book.paymentOf(payment).refunded).toBe(String(PRICE));
      expect(world.paidTo(PAYER)).toBe(PRICE);
    },
  );

  it.each([
    ['leased', 'A request holds the payment'],
    ['answered', 'has bought an answer'],
    ['other_form', 'presented in another form'],
  ])('refuse a refund whose payment cannot be closed, as it is %s, and leave nothing of it', async (state, detail) => {
    const payment = world.payRefused();
    world.ledger.put(payment, state);
    const refused = { code: 'refund_refused', message: says(detail), members: { reason: 'ledger' } };
    await expect(world.ask(payment)).rejects.toMatchObject(refused);
    expect([world.journal.jobs.size, world.ledger.stateOf(payment)]).toEqual([0, state]);
    // Asked for again once the request has ended.
    world.ledger.put(payment, 'free');
    expect(await world.ask(payment)).toMatchObject({ state: 'sending', number: 1 });
  });

  it('refuse a refund whose payment is closed by a refund that is none of it', async () => {
    const payment = world.payRefused();
    await world.ledger.close({ id: world.parse(payment), refund: 'r0-1', reason: null, allowsAnswered: true });
    await expect(world.ask(payment)).rejects.toMatchObject({ message: says('a refund that the book does not know') });
    expect(world.journal.jobs.size).toBe(0);
  });

  it('wait for the book, which has to have all that came before the closing', async () => {
    world.isRead = false;
    const payment = world.payRefused();
    const waiting = await world.ask(payment);
    expect(waiting).toMatchObject({ state: 'closed', job: null, detail: says('The book has to read first') });
    // What came before: it was answered, and the ledger has forgotten that since.
    Object.assign(world.book.paymentOf(payment).reported, { answered: {} });
    world.isRead = true;
    await world.advance();
    const failed = await world.refunds.read(waiting.id);
    expect(failed).toMatchObject({ state: 'failed', maybeSent: false, detail: says('has bought an answer') });
    expect(await world.refunds.retry('key-1', failed.id)).toMatchObject({ state: 'failed', attempt: 2 });
    expect(world.journal.jobs.size).toBe(0);
  });

  it.each([
    ['not_adopted', 'is not adopted'],
    ['lane_full', 'limit of open jobs'],
    ['outbox_full', 'BOOK_OUTBOX_LIMIT'],
    ['settings_differ', 'has BOOK=off'],
  ] as const)('wait where the journal refuses the job: %s', async (refusal, detail) => {
    world.journal.refusal = refusal;
    const { id, ...waiting } = await world.ask(world.payRefused());
    expect(waiting).toMatchObject({ state: 'closed', detail: says(detail) });
    world.journal.refusal = null;
    expect(await world.finish(id)).toMatchObject({ state: 'sending', detail: null });
  });

  it('wait for the wallet', async () => {
    const wallet = world.journal.wallet;
    globalThis.tollgateCrashPoint = (point) => {
      if (point === 'R2') world.journal.wallet = null;
    };
    const { id, ...waiting } = await world.ask(world.payRefused());
    expect(waiting).toMatchObject({ state: 'closed', detail: says('No agent worker has a wallet named refunds') });
    world.journal.wallet = wallet;
    expect(await world.finish(id)).toMatchObject({ state: 'sending' });
  });

  describe('look at the payment again before the job is written', () => {
    /** Has this happen between the closing and the second look. */
    async function askWhile(happens: (transaction: string) => void, payment = world.payRefused()): Promise<Refund> {
      const { transaction } = world.book.paymentOf(payment);
      globalThis.tollgateCrashPoint = (point) => {
        if (point === 'R2') happens(transaction!);
      };
      return world.ask(payment);
    }

    it('and fail where it is withdrawn', async () => {
      const failed = await askWhile((transaction) => {
        for (const payment of world.book.payments.values())
          if (payment.transaction === transaction) payment.state = 'withdrawn';
      });
      expect(failed).toMatchObject({ state: 'failed', maybeSent: false, detail: says('is withdrawn meanwhile') });
    });

    it('and wait while the chain shows no payer', async () => {
      const mined = world.chain.transactions;
      let taken: ReturnType<typeof mined.get>;
      const waiting = await askWhile((transaction) => {
        taken = mined.get(transaction);
        mined.delete(transaction);
      });
      expect(waiting).toMatchObject({ state: 'closed', detail: says('does not show the payer') });
      mined.set(waiting.arrivedIn, taken!);
      expect(await world.finish(waiting.id)).toMatchObject({ state: 'sending' });
    });

    it('and fail where the chain shows another payer', async () => {
      const failed = await askWhile((transaction) => {
        world.chain.transactions.get(transaction)!.receipt.logs = [transferLog(OTHER, SHOP, PRICE)] as never;
      });
      expect(failed).toMatchObject({ state: 'failed', maybeSent: false, detail: says('shows another payer') });
    });

    it('and fail where the chain shows the money in another transaction', async () => {
      const name: PaymentId = { kind: 'authorization', chainId: CHAIN_ID, asset: ASSET, from: PAYER, nonce: hashOf(7) };
      const used = { address: ASSET, topics: [AUTHORIZATION_USED, ...transferLog(PAYER, SHOP, 7n).topics.slice(1, 2)] };
      const mine = () =>
        world.mine([{ ...used, topics: [...used.topics, hashOf(7)], data: '0x' }, transferLog(PAYER, SHOP, PRICE)]);
      const payment = world.note(name, mine());
      const failed = await askWhile(() => (world.book.paymentOf(payment).transaction = mine()), payment);
      expect(failed).toMatchObject({ state: 'failed', maybeSent: false, detail: says('in another transaction') });
    });

    it('and have a person look at what is doubted by then', async () => {
      const asked = await askWhile((transaction) => world.book.differences.add(transaction));
      expect(asked).toMatchObject({ state: 'sending', doubts: [says('Book and chain differ')] });
      expect(jobOf(asked)).toMatchObject({ needsApproval: true });
    });

    // As of a Redis that lost its last second, when nobody had noticed it as the refund was asked for.
    it('and have a person look where Redis has lost what it may have been answered by', async () => {
      const asked = await askWhile(() => {
        world.pass();
        world.loseRedis();
      });
      expect(asked).toMatchObject({ state: 'sending', doubts: [says('may have bought an answer')] });
    });
  });

  describe('watch the job', () => {
    it('which has moved nothing where it failed: it is sent again as another job, by a person', async () => {
      const { id, job } = await world.ask(world.payRefused());
      world.endJob(job, 'REVERTED', { message: 'The transaction reverted.' });
      await world.advance();
      const failed = await world.refunds.read(id);
      expect(failed).toMatchObject({ state: 'failed', maybeSent: false, transaction: null, detail: says('reverted') });
      const retried = await world.refunds.retry('key-2', id);
      expect(retried).toMatchObject({ state: 'sending', attempt: 2, askedBy: ['key-1', 'key-2'], detail: null });
      expect(retried.job).not.toBe(job);
      expect(await world.finish(id)).toMatchObject({ state: 'refunded' });
      expect(world.paidTo(PAYER)).toBe(PRICE);
      for (const decide of [() => world.refunds.retry('key-1', id), () => world.refunds.giveUp(id)])
        await expect(decide()).rejects.toMatchObject({ message: says('Only a refund that has failed') });
    });

    it('which may have been sent where an operator has abandoned it', async () => {
      const { id, job } = await world.ask(world.payRefused());
      world.endJob(job, 'CANCELLED', { code: 'JOB_ABANDONED' });
      await world.advance();
      expect(await world.refunds.read(id)).toMatchObject({ maybeSent: true, detail: says('An operator abandoned') });
      expect(await world.refunds.retry('key-1', id)).toMatchObject({ attempt: 2, doubts: [says('A job of refund 1')] });
    });

    it('whose transaction is booked for another refund', async () => {
      const other = await world.ask(world.payRefused());
      const { id, job } = await world.ask(world.payRefused());
      world.book.change(other.id, { state: 'refunded', transaction: world.sendJob(job) });
      await world.advance();
      const failed = await world.refunds.read(id);
      expect(failed).toMatchObject({ state: 'failed', maybeSent: true, detail: says(`booked for ${other.id}`) });
      // Not by that job again, by which it would fail again.
      expect(await world.refunds.retry('key-1', id)).toMatchObject({ state: 'sending', attempt: 2 });
    });
  });

  it('send a refund by one account alone, also where the wallet becomes another one', async () => {
    const { id, job } = await world.ask(world.payRefused());
    // Before the bookkeeper knows that its job was accepted.
    world.book.change(id, { state: 'closed' });
    world.journal.wallet = world.journal.lanes[1]!;
    await world.advance();
    expect(await world.refunds.read(id)).toMatchObject({ state: 'sending', job });
    world.book.change(id, { state: 'closed' });
    world.loseJob(job);
    await world.advance();
    expect(await world.refunds.read(id)).toMatchObject({
      state: 'failed',
      maybeSent: true,
      detail: says('another account'),
    });
    expect(world.journal.jobs.size).toBe(0);
  });

  it('write no job that the journal may have deleted, however often it has waited since', async () => {
    const { id, job } = await world.ask(world.payRefused());
    world.loseJob(job);
    world.pass(4 * 86_400_000);
    // As in a book that was restored: the refund is new in it, and the ledger is closed for it since long.
    world.book.change(id, { state: 'asked', job: null, attemptAt: world.readTime() });
    await world.advance();
    expect(await world.refunds.read(id)).toMatchObject({
      state: 'failed',
      maybeSent: true,
      detail: says('no longer has'),
    });
    expect(world.journal.jobs.size).toBe(0);
  });

  it('fail where the journal has another job in its place, with other terms', async () => {
    const { id } = await world.ask(world.payRefused());
    world.book.change(id, { state: 'closed', amount: '1' });
    await world.advance();
    expect(await world.refunds.read(id)).toMatchObject({
      state: 'failed',
      maybeSent: true,
      detail: says('another job'),
    });
  });
});
