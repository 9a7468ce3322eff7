import { once } from 'node:events';

import { Redis } from 'ioredis';

import { startRedisStandIn } from '../../../test/harness/network/redis-stand-in.js';
import { waitFor } from '../../../test/harness/retry.js';
import { borrowRedis, type BorrowedRedis } from '../../../test/harness/stack/borrow-redis.js';
import { NestPublisher } from './nest-publisher.js';

/** How long ioredis gives a stream to end before it destroys it. */
const DISCONNECT_TIMEOUT_MS = 2_000;

describe('a publisher of events', () => {
  let server: BorrowedRedis;

  beforeAll(async () => {
    server = await borrowRedis();
  });

  afterEach(() => jest.restoreAllMocks());

  afterAll(() => server.stop());

  // Regression: the timer kept Jest for two seconds after the last test.
  it('leaves no timer for connections that QUIT has ended', async () => {
    const publisher = new NestPublisher(server.url);
    await publisher.publish([{ type: 'transactionFailed' }]);
    const quit: (this: Redis) => Promise<'OK'> = Reflect.get(Redis.prototype, 'quit');
    // As on a busy machine: Redis has closed the connection before the publisher goes on.
    const quitting = jest.spyOn(Redis.prototype, 'quit').mockImplementation(async function (this: Redis) {
      const [answer] = await Promise.all([quit.call(this), once(this, 'end')]);
      return answer;
    });
    const timers = jest.spyOn(globalThis, 'setTimeout');
    await publisher.close();
    expect(quitting).toHaveBeenCalled();
    expect(timers.mock.calls.filter(([, ms]) => ms === DISCONNECT_TIMEOUT_MS)).toEqual([]);
  });

  it('leaves a connection on which nothing is answered any more', async () => {
    const standIn = await startRedisStandIn();
    const publisher = new NestPublisher(standIn.url);
    await publisher.publish([{ type: 'transactionFailed' }]);
    standIn.become('silent');
    const published = publisher.publish([{ type: 'transactionFailed' }]);
    await waitFor('it is sent', () => standIn.commands.filter((name) => name === 'publish').length === 2);
    standIn.become('up');
    await published;
    await publisher.close();
    await standIn.stop();
  });
});
