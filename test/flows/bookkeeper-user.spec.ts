import type { Redis } from 'ioredis';

import { BOOK_GROUP, bucketEventsKey, laneBookKey, REFUSED_EVENTS } from '../../libs/book-events/src/index.js';
import { createJobId, createLaneId, Journal } from '../../libs/journal/src/index.js';
import { Ledger } from '../../libs/ledger/src/index.js';
import { WebhookDeliveries, WebhookTargets } from '../../libs/webhooks/src/index.js';
import { waitFor } from '../harness/retry.js';
import { startGuardedRedis, type GuardedRedis } from '../harness/stack/guarded-redis.js';

const LANE = `1328:0x${'ab'.repeat(20)}`;
const STREAMS = [bucketEventsKey(7), REFUSED_EVENTS, laneBookKey(LANE)];

describe('the bookkeeper as a user of Redis', () => {
  let redis: GuardedRedis;
  let bookkeeper: Redis;
  let admin: Redis;

  beforeAll(async () => {
    redis = await startGuardedRedis();
    ({ admin } = redis);
    bookkeeper = redis.connectAs('bookkeeper');
    for (const stream of STREAMS) await admin.xadd(stream, '1-0', 'v', '1');
    await admin.hset('tollgate:{pay-7}:birth:1328', 'booked', '5');
    await admin.sadd('tollgate:{relayers}:lanes', LANE);
  });

  afterAll(() => redis.stop());

  it('reads the streams and moves its position', async () => {
    for (const stream of STREAMS) {
      await bookkeeper.xgroup('CREATE', stream, BOOK_GROUP, '0', 'MKSTREAM');
      const reply = await bookkeeper.xreadgroup('GROUP', BOOK_GROUP, 'one', 'STREAMS', stream, '>');
      expect(reply).toEqual([[stream, [['1-0', ['v', '1']]]]]);
      await bookkeeper.xautoclaim(stream, BOOK_GROUP, 'two', 0, '0');
      expect(await bookkeeper.xack(stream, BOOK_GROUP, '1-0')).toBe(1);
    }
    expect(await bookkeeper.hget('tollgate:{pay-7}:birth:1328', 'booked')).toBe('5');
    expect(await bookkeeper.smembers('tollgate:{relayers}:lanes')).toEqual([LANE]);
  });

  it('ends the wait of a reading, as a refund does', async () => {
    const reader = redis.connectAs('bookkeeper');
    const id = await reader.client('ID');
    const group = ['GROUP', BOOK_GROUP, 'one'] as const;
    const reading = reader.xreadgroup(...group, 'BLOCK', 3_600_000, 'STREAMS', STREAMS[0]!, '>');
    await waitFor('it waits, and is woken', async () => (await bookkeeper.client('UNBLOCK', id)) === 1);
    expect(await reading).toBeNull();
  });

  it('decides about jobs, pauses accounts and fills their gaps, with the scripts of the journal', async () => {
    const lane = createLaneId(1328, `0x${'ab'.repeat(20)}`);
    const own = new Journal({ redis: admin });
    await own.open();
    await own.adopt(lane, { pendingNonce: 0 });
    const journal = new Journal({ redis: bookkeeper, bookLimit: 1_000 });
    await journal.open();
    const job = { operation: 'transfer', input: {}, wallet: 'main', keyId: 'key-1', fingerprint: 'print' };
    const submitted = await journal.submit({ ...job, lane, idempotencyKey: 'one' });
    const jobId = 'jobId' in submitted ? submitted.jobId : '';
    expect(await journal.cancel(jobId)).toMatchObject({ outcome: 'done' });
    expect((await journal.listJobs({ lanes: await journal.readLanes() })).jobs).toMatchObject([{ state: 'CANCELLED' }]);
    const named = { ...job, lane, jobId: createJobId(lane) };
    expect(await journal.submitNamed(named)).toMatchObject({ outcome: 'accepted' });
    const why = { code: 'PAUSED_BY_OPERATOR', message: 'an audit', suggestion: 'Wait.' };
    expect(await journal.pauseLane(lane, why)).toEqual({ outcome: 'done' });
    expect(await journal.resumeLane(lane)).toEqual({ outcome: 'done' });
    const { token } = (await own.takeLease(lane, 'worker', 60_000))!;
    await own.noteGap(lane, { token, nonce: 3 });
    const fill = { lane, nonce: 3, wallet: 'main', keyId: 'key-1', hadBy: null, mostPerHour: null };
    expect(await journal.fillNonce(fill)).toMatchObject({ outcome: 'done' });
    expect(await journal.readSpentToday(lane)).toEqual({});
  });

  it('closes payments and reports refunds, with the scripts of the ledger', async () => {
    const ledger = new Ledger({ redis: bookkeeper, chainIds: [1328], book: { outboxLimit: 1_000 } });
    const id = { kind: 'transfer', chainId: 1328, txHash: `0x${'cd'.repeat(32)}`, logIndex: 0 } as const;
    const close = { id, refund: 'refund-1', reason: null, allowsAnswered: true };
    expect(await ledger.close(close)).toEqual({ outcome: 'closed', from: 'free' });
    const facts = { transaction: id.txHash, amount: '5', recipient: `0x${'ef'.repeat(20)}` } as const;
    expect(await ledger.recordRefunded(id, { refund: 'refund-1', ...facts })).toBe(true);
    expect(await ledger.close(close)).toMatchObject({ outcome: 'closed_before', paid: ['refund-1'] });
  });

  it('keeps the webhook targets of payments, and what waits for them', async () => {
    const targets = new WebhookTargets(bookkeeper, 'payments', { rules: { allowPrivateTargets: true } });
    const deliveries = new WebhookDeliveries(bookkeeper, 'payments');
    const wanted = { keyId: 'key-1', url: 'http://127.0.0.1/', hearsAll: true };
    const registered = await targets.register(wanted);
    if (registered.outcome !== 'registered') throw new Error(JSON.stringify(registered));
    const { target } = registered;
    const add = (order: number) => {
      const event = { id: `event-${order}`, type: 'payment.answered', at: new Date(0).toISOString() };
      const announced = { keyId: null, order, event };
      return deliveries.add([{ target, announced }], { perTarget: 2, inAll: 2 }, { from: order - 1, to: order });
    };
    for (const order of [1, 2, 3, 4]) await add(order);
    expect([await deliveries.readPosition(), (await deliveries.listDue()).due.length]).toEqual([4, 1]);
    const [one, other] = await deliveries.claim(target, 9, 60_000);
    await deliveries.retry(target, one!, 0);
    await deliveries.giveUp(target, other!, 'never');
    expect(await deliveries.listDead([target], 9)).toHaveLength(1);
    expect(await deliveries.count(target)).toEqual({ waiting: 1, dead: 1, crowdedOut: 2 });
    expect(await deliveries.resend(target, 'event-4')).toBe(true);
    await deliveries.giveUp(target, other!, 'never');
    await deliveries.removeBefore([target], Date.now());
    expect(await deliveries.count(target)).toMatchObject({ waiting: 0, dead: 0 });
    expect([await targets.disable(target, 'gone'), (await targets.findListeners(null)).targets]).toEqual([0, []]);
    expect(await targets.enable(target)).toEqual(target);
    expect([await targets.remove(target), (await targets.list()).targets]).toEqual([true, []]);
  });

  it('publishes the events of payments', async () => {
    for (const channel of ['payment.answered', 'book.closed', 'reconcile.difference']) {
      expect(await bookkeeper.publish(channel, '{}')).toBe(0);
    }
  });

  it('was refused none of this', async () => {
    expect(await redis.readRefusals()).toEqual([]);
  });

  const stream = STREAMS[0]!;
  it.each([
    ['PUBLISH', 'jobCompleted', '{}'],
    ['XDEL', stream, '1-0'],
    ['XTRIM', stream, 'MAXLEN', '0'],
    ['XGROUP', 'DESTROY', stream, BOOK_GROUP],
    ['XADD', REFUSED_EVENTS, '*', 'v', '1'],
    ['DEL', REFUSED_EVENTS],
    ['UNLINK', stream],
    ['EXPIRE', stream, '1'],
    ['SADD', 'tollgate:{relayers}:lanes', 'x'],
    ['HSET', 'tollgate:{wallets}', 'main', 'x'],
    ['HSET', 'tollgate:{api-keys}', 'x', 'y'],
    ['HSET', 'tollgate:{agent}:bull', 'x', 'y'],
    ['HSET', 'tollgate:{webhooks}:jobs:of:x', 'y', 'z'],
    ['EVAL', "return redis.call('SADD', KEYS[1], 'x')", '1', 'tollgate:{lanes}:lanes'],
    ['EVAL', "return redis.call('DEL', KEYS[1])", '1', REFUSED_EVENTS],
    ['SET', 'tollgate:{pay-7}:answer:tx:1', 'x'],
    ['GET', 'tollgate:sign-in-nonce:1'],
    ['KEYS', '*'],
    ['FLUSHALL'],
  ])('may not run %s %s', async (command, ...args) => {
    await expect(bookkeeper.call(command, ...args)).rejects.toThrow('NOPERM');
  });
});
