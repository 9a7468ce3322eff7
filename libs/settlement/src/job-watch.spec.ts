import { Journal } from '@tollgate/journal';
import { Redis } from 'ioredis';

import { startRedis, type RedisServer } from '../../../tools/devnet/processes/redis.js';
import { JobWatch } from './confirm.js';

describe('a closed watch of jobs', () => {
  let server: RedisServer;
  let redis: Redis;
  let watch: JobWatch;
  const troubles: unknown[] = [];

  beforeAll(async () => {
    server = await startRedis();
    redis = new Redis(server.url);
  });

  beforeEach(() => {
    watch = new JobWatch(new Journal({ redis }), (error) => troubles.push(error));
  });

  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  it('resolves open waits as unwatched', async () => {
    const waiting = [watch.untilMined('a'), watch.untilEnded('a'), watch.untilEnded('b')];
    watch.close();
    expect(await Promise.all(waiting)).toEqual(Array(3).fill({ outcome: 'unwatched' }));
  });

  // Regression: it began to read the journal again over a closed connection, and did so for ever.
  it('resolves later waits as unwatched, and reads nothing', async () => {
    watch.close();
    const late = [watch.untilMined('a'), watch.untilEnded('b')];
    expect(watch.size).toBe(0);
    expect(await Promise.all(late)).toEqual(Array(2).fill({ outcome: 'unwatched' }));
    expect(troubles).toEqual([]);
  });
});
