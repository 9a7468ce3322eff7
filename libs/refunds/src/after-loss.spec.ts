import { readRefundJob, type Refund } from '@tollgate/refunds';

import { hashOf, PAYER, PRICE, RefundWorld } from '../test/refund-world.js';

const says = (text: string): unknown => expect.stringContaining(text);
const MAYBE_SENT = says('A job of refund 1 may have been sent');

describe('a refund, after Redis or the book lost data', () => {
  let world: RefundWorld;

  beforeEach(() => {
    world = new RefundWorld();
  });

  const read = (id: string): Promise<Refund> => world.refunds.read(id);
  const decide = (decision: string, id: string, transaction = hashOf(900)): Promise<Refund> =>
    decision === 'retry'
      ? world.refunds.retry('key-1', id)
      : decision === 'give-up'
        ? world.refunds.giveUp(id)
        : world.refunds.markPaid(id, transaction);

  it('is known as sold where the book had learnt of the answer, and the payer presents the payment again', async () => {
    const payment = world.paySold();
    world.loseRedis();
    Object.assign(world.book.paymentOf(payment).reported, { refused: { failure: 'older_than_ledger' } });
    expect(await world.refunds.preview(payment)).toMatchObject({ boughtAnswer: true, doubts: [] });
    await expect(world.ask(payment)).rejects.toMatchObject({ members: { reason: 'answered' } });
  });

  it.each(['give-up', 'retry'])(
    'is paid back after %s by two people only, where its job was lost',
    async (decision) => {
      const payment = world.payRefused();
      const { id } = await world.ask(payment);
      world.loseRedis();
      await world.advance();
      expect(await read(id)).toMatchObject({
        state: 'failed',
        maybeSent: true,
        doubts: [],
        detail: says('The journal no longer has'),
      });
      await decide(decision, id);
      expect((await world.refunds.preview(payment)).doubts).toContainEqual(MAYBE_SENT);
      const again = await world.ask(payment, decision === 'retry' ? {} : { number: 2 });
      expect(again.doubts).toContainEqual(MAYBE_SENT);
      expect(readRefundJob(world.journal.jobOf(again.job))).toMatchObject({ needsApproval: true });
    },
  );

  it('is not sent where it was closed, and Redis has lost that with its job', async () => {
    const { id } = await world.ask(world.payRefused());
    world.book.change(id, { state: 'closed' });
    world.loseRedis();
    await world.advance();
    expect(await read(id)).toMatchObject({ state: 'failed', maybeSent: true, detail: says('no longer has the job') });
    expect(world.journal.jobs.size).toBe(0);
  });

  it.each(['closed', 'sending', 'failed', 'given_up'] as const)(
    'is refunded where the book has its transfer, and the journal lost its job: %s',
    async (state) => {
      const payment = world.payRefused();
      const { id } = await world.ask(payment);
      const { transaction } = await world.finish(id);
      // As a bookkeeper leaves it that is killed before it notes the end, or that has not found the job afterwards.
      world.book.change(id, { state, transaction: null });
      if (state === 'given_up') await world.book.giveBack(id);
      world.loseRedis();
      if (state === 'failed') await decide('retry', id);
      else if (state === 'given_up') await decide('give-up', id);
      else await world.advance();
      expect(await read(id)).toMatchObject({ state: 'refunded', transaction, attempt: 1 });
      expect(world.paidTo(PAYER)).toBe(PRICE);
      expect([...world.book.transfers.values()]).toEqual([{ log: 0, arrived: '10000', taken: '10000' }]);
    },
  );

  it.each(['retry', 'give-up', 'paid'])(
    'is booked where its job, which was lost, is there again, and a person decides %s',
    async (decision) => {
      const payment = world.payRefused();
      const { id, job } = await world.ask(payment);
      const transaction = world.sendJob(job);
      const putBack = world.loseJob(job);
      await world.advance();
      expect(await read(id)).toMatchObject({ state: 'failed', maybeSent: true });
      putBack();
      const decided = decide(decision, id);
      // Not by the transaction that was named.
      if (decision === 'paid') await expect(decided).rejects.toMatchObject({ members: { transaction } });
      else expect(await decided).toMatchObject({ state: 'refunded', attempt: 1, job });
      await world.advance();
      expect(await read(id)).toMatchObject({ state: 'refunded', transaction });
      expect(world.book.paymentOf(payment).refunded).toBe(String(PRICE));
      expect(world.paidTo(PAYER)).toBe(PRICE);
    },
  );

  it('is reported again where the ledger has lost that it was closed', async () => {
    const payment = world.payRefused();
    const { id, job } = await world.ask(payment);
    world.sendJob(job);
    world.ledger.put(payment, 'answered');
    expect(await world.finish(id)).toMatchObject({ state: 'refunded' });
    expect(world.ledger.stateOf(payment)).toBe('closed');
    expect(world.book.paymentOf(payment).refunded).toBe(String(PRICE));
  });

  it('is the same refund in a book that was restored from a copy of before it, and is booked once', async () => {
    const payment = world.payRefused();
    const restore = world.book.copy();
    const { id } = await world.ask(payment);
    const { transaction } = await world.finish(id);
    restore();
    expect(world.book.paymentOf(payment).refunded).toBe('0');
    expect(await world.ask(payment)).toMatchObject({ id });
    expect(await world.finish(id)).toMatchObject({ state: 'refunded', transaction, attempt: 1 });
    expect(world.book.paymentOf(payment).refunded).toBe(String(PRICE));
    expect(world.paidTo(PAYER)).toBe(PRICE);
  });

  describe('of an answer, in a book that was restored from a copy of before the money was paid back', () => {
    let payment: string;
    let id: string;
    let restore: () => void;
    const askForSecond = () => world.ask(payment, { answered: true, number: 2 });
    const lost = (number: number) => ({ state: 'failed', maybeSent: true, detail: says(`refund ${number} as paid`) });

    /** The copy has its first refund as failed. */
    beforeEach(async () => {
      payment = world.paySold();
      const first = await world.ask(payment, { answered: true });
      ({ id } = first);
      world.endJob(first.job, 'CANCELLED');
      await world.advance();
      restore = world.book.copy();
      world.pass();
    });

    afterEach(() => {
      expect(world.paidTo(PAYER)).toBe(PRICE);
    });

    it('is not paid a second time by a retry, and is booked where the refund that paid it is asked for', async () => {
      await decide('give-up', id);
      const { id: second } = await askForSecond();
      await world.finish(second);
      restore();
      expect(await world.refunds.preview(payment)).toMatchObject({ doubts: [says('may have been paid back already')] });
      expect(await decide('retry', id)).toMatchObject({ ...lost(2), id, attempt: 2 });
      await decide('give-up', id);
      expect(await askForSecond()).toMatchObject({ id: second });
      expect(await world.finish(second)).toMatchObject({ state: 'refunded' });
      expect(world.book.paymentOf(payment).refunded).toBe(String(PRICE));
    });

    it('is not paid a second time as another refund, where a later attempt has paid it', async () => {
      await decide('retry', id);
      await world.finish(id);
      restore();
      await decide('give-up', id);
      expect(await askForSecond()).toMatchObject(lost(1));
    });

    it('is not paid a second time by the same attempt, where the journal has forgotten its job', async () => {
      const { job } = await decide('retry', id);
      await world.finish(id);
      world.loseJob(job);
      restore();
      expect(await decide('retry', id)).toMatchObject({ ...lost(1), attempt: 2 });
    });
  });

  it.each(['asked', 'closed'] as const)(
    'is not paid back without a person where Redis was lost as well, and the copy of the book has it as %s',
    async (state) => {
      world.journal.refusal = 'not_adopted';
      const { id, job } = await world.ask(world.paySold(), { answered: true });
      world.book.change(id, { state, job: state === 'asked' ? null : job });
      const restore = world.book.copy();
      world.pass();
      world.journal.refusal = null;
      restore();
      await world.advance();
      expect(await read(id)).toMatchObject({
        state: 'sending',
        job,
        doubts: [says('may have been paid back already')],
      });
      expect(readRefundJob(world.journal.jobOf(job))).toMatchObject({ needsApproval: true });
    },
  );

  it('may have been sent in a book that was restored, also where it fails now', async () => {
    world.journal.refusal = 'not_adopted';
    const { id, payment } = await world.ask(world.payRefused());
    world.pass();
    world.book.copy()();
    Object.assign(world.book.paymentOf(payment).reported, { answered: {} });
    await world.advance();
    expect(await read(id)).toMatchObject({ state: 'failed', maybeSent: true, detail: says('has bought an answer') });
  });

  it('waits for another refund that the ledger has as paid, and that is in work', async () => {
    const payment = world.payRefused();
    const first = await world.ask(payment, { amount: '4000' });
    // As in a book that was restored: the job is read again, and the refund is booked again.
    const facts = { refund: first.id, transaction: hashOf(901), amount: '4000', recipient: PAYER };
    await world.ledger.recordRefunded(world.parse(payment), facts);
    const second = await world.ask(payment, { amount: '6000', number: 2 });
    expect(second).toMatchObject({ state: 'closed', detail: says('is booked') });
    for (const { id } of [first, second, second]) await world.finish(id);
    expect(await Promise.all([first.id, second.id].map(read))).toMatchObject(Array(2).fill({ state: 'refunded' }));
    expect(world.book.paymentOf(payment).refunded).toBe(String(PRICE));
  });
});
