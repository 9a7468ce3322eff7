import type { Hex } from '@tollgate/protocol';
import type { Refund } from '@tollgate/refunds';

import { hashOf, OTHER, PAYER, PRICE, RefundWorld, stepOf, WALLET } from '../test/refund-world.js';

const says = (text: string): unknown => expect.stringContaining(text);
const OTHER_TOKEN: Hex = `0x${'77'.repeat(20)}`;

describe('a refund whose job is lost, and the transaction that a person names', () => {
  let world: RefundWorld;

  beforeEach(() => {
    world = new RefundWorld();
  });

  const name = ({ id }: Pick<Refund, 'id'>, transaction: Hex): Promise<Refund> =>
    world.refunds.markPaid(id, transaction);

  async function expectRefused(named: Promise<Refund>, detail: string, reason = 'transaction'): Promise<void> {
    await expect(named).rejects.toMatchObject({ message: says(detail), members: { reason } });
  }

  /** A refund that the journal no longer knows. */
  async function askAndLose(payment = world.payRefused(), more: object = {}): Promise<Refund> {
    const { id, job } = await world.ask(payment, more);
    world.loseJob(job);
    await world.advance();
    const lost = await world.refunds.read(id);
    expect(lost).toMatchObject({ state: 'failed', maybeSent: true });
    return lost;
  }

  /** After as many blocks as it needs. */
  function makeFinal(transaction: Hex): Hex {
    world.chain.head += 3;
    return transaction;
  }

  it('is booked by it once it is final, and by no other', async () => {
    const payment = world.payRefused();
    const lost = await askAndLose(payment);
    const transaction = world.send();
    await expectRefused(name(lost, transaction), 'not final yet');
    makeFinal(transaction);
    world.isRead = false;
    await expectRefused(name(lost, transaction), 'has not read all events yet');
    world.isRead = true;
    expect(await name(lost, transaction)).toMatchObject({ state: 'refunded', transaction, askedAmount: null });
    expect(await name(lost, transaction)).toMatchObject({ state: 'refunded', transaction });
    await expectRefused(name(lost, makeFinal(world.send())), 'booked by another transaction', 'state');
    await world.advance();
    expect(world.book.paymentOf(payment).refunded).toBe(String(PRICE));
  });

  it('is not booked by a transaction that did not pay it', async () => {
    const lost = await askAndLose();
    const wrong = [{ token: OTHER_TOKEN }, { to: OTHER }, { from: OTHER }];
    for (const one of wrong) await expectRefused(name(lost, makeFinal(world.send(one))), 'no transfer of the refund');
    for (const failed of [world.mine([], { status: 'failed' }), hashOf(900)])
      await expectRefused(name(lost, makeFinal(failed)), 'does not show this transaction as successful');
    await expectRefused(name(lost, makeFinal(world.send({ amount: PRICE + 1n }))), 'leave less', 'exceeds');
    world.book.paymentOf(lost.payment).refunded = '1';
    await expectRefused(name(lost, makeFinal(world.send())), 'leave less', 'exceeds');
    world.book.change(lost.id, { chainId: 1 });
    await expectRefused(name(lost, makeFinal(world.send())), 'of chain 1');
  });

  it('is not booked by the transaction of another refund to the same payer, booked or not', async () => {
    const lost = await askAndLose();
    const other = await world.ask(world.payRefused());
    const transaction = makeFinal(world.sendJob(other.job));
    await expectRefused(name(lost, transaction), `The job of the refund ${other.id} has sent it`);
    await world.finish(other.id);
    await expectRefused(name(lost, transaction), `booked already, for ${other.id}`);
    // In a book that was restored, the event of that refund is there, and not the refund.
    world.book.refunds = world.book.refunds.filter(({ id }) => id !== other.id);
    await expectRefused(name(lost, transaction), `booked already, for ${other.payment}`);
  });

  it('is booked with what the chain shows, where it was asked for with another amount', async () => {
    const payment = world.payRefused();
    const lost = await askAndLose(payment, { amount: '6000' });
    expect(await name(lost, makeFinal(world.send({ amount: 4_000n })))).toMatchObject({
      state: 'refunded',
      amount: '4000',
      askedAmount: '6000',
    });
    // Prevents: the answer to the same request names the next number, and a program that uses it refunds more than it asked for.
    for (const amount of ['6000', '4000']) expect(await world.ask(payment, { amount })).toMatchObject({ id: lost.id });
    await expect(world.ask(payment, { amount: '5000' })).rejects.toMatchObject({ code: 'refund_differs' });
    await world.advance();
    expect(world.book.paymentOf(payment).refunded).toBe('4000');
    // The rest is not lost with it.
    expect(await world.ask(payment, { number: 2 })).toMatchObject({ amount: '6000', state: 'sending' });
  });

  it('is booked where the ledger has it as paid and a person gave it up, and no longer blocks the rest', async () => {
    const payment = world.payRefused();
    const first = await askAndLose(payment, { amount: '4000' });
    const transaction = makeFinal(world.send({ amount: 4_000n }));
    await world.refunds.giveUp(first.id);
    // As in a book that was restored: the ledger knows more.
    const facts = { refund: first.id, transaction, amount: '4000', recipient: PAYER };
    await world.ledger.recordRefunded(world.parse(payment), facts);
    const second = await world.ask(payment, { amount: '6000', number: 2 });
    expect(second).toMatchObject({ state: 'failed', detail: says(first.id) });
    await expectRefused(name(second, transaction), `has ${first.id} as paid`);
    expect(await name(first, transaction)).toMatchObject({ state: 'refunded' });
    await world.advance();
    expect(world.book.paymentOf(payment).refunded).toBe('4000');
    expect(await world.refunds.retry('key-1', second.id)).toMatchObject({ state: 'sending', attempt: 2 });
  });

  it('takes again what a refund that was given up had taken, at most what is left', async () => {
    const payment = world.payRefused();
    const lost = await askAndLose(payment, { amount: '4000' });
    await world.refunds.giveUp(lost.id);
    await world.ask(payment, { number: 2, amount: '7000' });
    const transfer = () => [...world.book.transfers.values()];
    expect(transfer()).toEqual([{ log: 0, arrived: '10000', taken: '7000' }]);
    await expectRefused(name(lost, makeFinal(world.send({ amount: 3_001n }))), 'leave less', 'exceeds');
    expect(await name(lost, makeFinal(world.send({ amount: 3_000n })))).toMatchObject({ amount: '3000' });
    expect(transfer()).toEqual([{ log: 0, arrived: '10000', taken: '10000' }]);
  });

  // Prevents: the payer is paid by that job too.
  it('is not booked by another transaction while its own job, which is there again, may still send', async () => {
    const { id, job } = await world.ask(world.payRefused());
    const putBack = world.loseJob(job);
    await world.advance();
    await world.refunds.giveUp(id);
    putBack();
    const transaction = makeFinal(world.send());
    await expectRefused(name({ id }, transaction), 'which may still pay it');
    const own = makeFinal(world.send());
    world.setJob(job, { state: 'NEEDS_OPERATOR', steps: [stepOf(own, false)] });
    await expectRefused(name({ id }, transaction), 'which may still pay it');
    world.setJob(job, { state: 'FINAL', steps: [stepOf(own, true)] });
    await expectRefused(name({ id }, transaction), `has paid it by ${own}`);
    // Unless that is booked for another refund.
    const other = await world.ask(world.payRefused());
    world.book.change(other.id, { transaction: own });
    await expectRefused(name({ id }, hashOf(900)), 'does not show this transaction');
    world.book.change(other.id, { transaction: null });
    // Its own transaction uses its nonce: it sends no other.
    world.setJob(job, { state: 'NEEDS_OPERATOR', steps: [stepOf(own, false)] });
    expect(await name({ id }, own)).toMatchObject({ state: 'refunded', transaction: own });
  });

  it('is booked where another account was the wallet when it was sent', async () => {
    const lost = await askAndLose();
    const transaction = makeFinal(world.send({ from: OTHER }));
    await expectRefused(name(lost, transaction), 'no transfer of the refund');
    world.book.ownAccounts.add(OTHER);
    // What an account has sent is of no job of another account, readable or not.
    const { job } = await world.ask(world.payRefused());
    world.journal.unreadable.add(job!);
    await expectRefused(name(lost, makeFinal(world.send({ from: WALLET }))), 'cannot be read');
    expect(await name(lost, transaction)).toMatchObject({ state: 'refunded' });
  });

  it('is not named to a refund that has not failed', async () => {
    const { id } = await world.ask(world.payRefused());
    await expectRefused(
      name({ id }, makeFinal(world.send())),
      'Only a refund that has failed or was given up',
      'state',
    );
  });
});
