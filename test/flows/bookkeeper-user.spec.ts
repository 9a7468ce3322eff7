import type { Redis } from 'ioredis';

import { BOOK_GROUP, bucketEventsKey, laneBookKey, REFUSED_EVENTS } from '../../libs/book-events/src/index.js';
import { startGuardedRedis, type GuardedRedis } from '../harness/guarded-redis.js';

const LANE = `1328:0x${'ab'.repeat(20)}`;
const STREAMS = [bucketEventsKey(7), REFUSED_EVENTS, laneBookKey(LANE)];

describe('the bookkeeper as a user of Redis', () => {
  let redis: GuardedRedis;
  let bookkeeper: Redis;

  beforeAll(async () => {
    redis = await startGuardedRedis();
    const { admin } = redis;
    bookkeeper = redis.connectAs('bookkeeper');
    for (const stream of STREAMS) await admin.xadd(stream, '1-0', 'v', '1');
    await admin.hset('tollgate:{pay-7}:birth', 'booked', '5');
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
    expect(await bookkeeper.hget('tollgate:{pay-7}:birth', 'booked')).toBe('5');
    expect(await bookkeeper.smembers('tollgate:{relayers}:lanes')).toEqual([LANE]);
  });

  it('publishes the events of payments, and nothing else', async () => {
    for (const channel of ['payment.answered', 'book.closed', 'reconcile.difference']) {
      expect(await bookkeeper.publish(channel, '{}')).toBe(0);
    }
    await expect(bookkeeper.publish('jobCompleted', '{}')).rejects.toThrow('NOPERM');
  });

  const stream = STREAMS[0]!;
  it.each([
    ['XADD', stream, '*', 'v', '1'],
    ['XDEL', stream, '1-0'],
    ['XTRIM', stream, 'MAXLEN', '0'],
    ['XGROUP', 'DESTROY', stream, BOOK_GROUP],
    ['DEL', stream],
    ['UNLINK', stream],
    ['EXPIRE', stream, '1'],
    ['EVAL', "return redis.call('DEL', KEYS[1])", '1', stream],
    ['HSET', 'tollgate:{pay-7}:birth', 'booked', '1'],
    ['SADD', 'tollgate:{relayers}:lanes', 'x'],
    ['HGETALL', `tollgate:{pay-7}:tx:1328:0x${'cd'.repeat(32)}`],
    ['XRANGE', `tollgate:{${LANE}}:events`, '-', '+'],
    ['KEYS', '*'],
    ['FLUSHALL'],
  ])('may not run %s %s', async (command, ...args) => {
    await expect(bookkeeper.call(command, ...args)).rejects.toThrow('NOPERM');
  });
});
