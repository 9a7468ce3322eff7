import { once } from 'node:events';

import { Redis } from 'ioredis';

import { startRedis, type RedisServer } from '../../../../tools/devnet/processes/redis.js';
import { NestPublisher } from './nest-publisher.js';

/** How long ioredis gives a stream to end before it destroys it. */
const DISCONNECT_TIMEOUT_MS = 2_000;

describe('a publisher of events', () => {
  let server: RedisServer;

  beforeAll(async () => {
    server = await startRedis({ appendfsync: 'no' });
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
});
