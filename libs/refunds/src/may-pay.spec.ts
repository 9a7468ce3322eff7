import type { Refund } from '@tollgate/refunds';

import { hashOf, RefundWorld, stepOf } from '../test/refund-world.js';

/** Of a job that waits for an operator or an approval, after a loss of Redis. */
describe("whether a refund's job may go on", () => {
  let world: RefundWorld;
  let refund: Refund;

  beforeEach(async () => {
    world = new RefundWorld();
    refund = await world.ask(world.payRefused());
    world.setJob(refund.job, { state: 'NEEDS_OPERATOR', steps: [stepOf(hashOf(901), false)] });
  });

  const findFault = (job = refund.job) => world.refunds.findPayFault(world.journal.jobOf(job));
  const says = (text: string): unknown => expect.stringContaining(text);

  it('it may, where nothing else pays the refund', async () => {
    expect(await findFault()).toBeNull();
  });

  // Prevents: what another job or refund pays is paid by this job too.
  it.each<[string, Partial<Refund>]>([
    ['was given up', { state: 'given_up' }],
    ['has a later attempt', { state: 'failed', attempt: 2 }],
  ])('it must not, where the refund %s', async (detail, change) => {
    world.book.change(refund.id, change);
    expect(await findFault()).toEqual(says(`The refund ${detail}`));
  });

  it('it must not, where the book does not know the refund', async () => {
    world.book.refunds = [];
    expect(await findFault()).toEqual(says('does not know this refund'));
  });

  it('it must not, where the refund is booked by another transaction', async () => {
    const paidBack = world.book.paymentOf(refund.payment).paidBack;
    paidBack.push({ refund: refund.id, transaction: hashOf(900) });
    expect(await findFault()).toEqual(says(hashOf(900)));
    paidBack[0]!.transaction = hashOf(901);
    expect(await findFault()).toBeNull();
  });

  // Prevents: both attempts pay.
  it('it must not, while the job of an earlier attempt, which is there again, may pay the refund or has', async () => {
    const putBack = world.loseJob(refund.job);
    await world.advance();
    const { job, attempt } = await world.refunds.retry('key-1', refund.id);
    expect(attempt).toBe(2);
    expect(await findFault(job)).toBeNull();
    putBack();
    expect(await findFault(job)).toEqual(says(`its earlier job ${refund.job}`));
    const transaction = world.sendJob(refund.job);
    expect(await findFault(job)).toEqual(says(`its earlier job ${refund.job}`));
    // What it sent is booked for another refund.
    const other = await world.ask(world.payRefused());
    world.book.change(other.id, { transaction });
    expect(await findFault(job)).toBeNull();
    world.book.change(other.id, { transaction: null });
    world.journal.unreadable.add(refund.job!);
    expect(await findFault(job)).toEqual(says(`its earlier job ${refund.job}`));
    world.journal.unreadable.clear();
    world.endJob(refund.job, 'CANCELLED');
    expect(await findFault(job)).toBeNull();
  });

  it('it may all the same, where it sends no transfer any more, or its own transaction has used its nonce', async () => {
    world.book.change(refund.id, { state: 'given_up' });
    for (const ended of [{ voided: true }, { mined: stepOf(hashOf(901), true).mined }]) {
      world.setJob(refund.job, { steps: [{ ...stepOf(hashOf(901), false), ...ended }] });
      expect(await findFault()).toBeNull();
    }
    world.setJob(refund.job, { steps: [stepOf(world.send(), false)] });
    expect(await findFault()).toBeNull();
  });
});
