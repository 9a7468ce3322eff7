import { Redis } from 'ioredis';

import { startRedis, type RedisOptions, type RedisServer } from '../../../tools/devnet/processes/redis.js';

interface OwnRedis {
  /** A server that the test may kill, stop or configure. */
  serve: (options?: RedisOptions) => Promise<RedisServer>;
  /** A client that waits for its server, however often that is killed. */
  connectTo: (url: string) => Redis;
  /** Called after the test, before the servers stop. */
  cleanUp: (cleanup: () => Promise<unknown> | void) => void;
}

/** Servers and clients of a test's own, which are ended after it. */
export function useOwnRedis(): OwnRedis {
  const cleanups: (() => Promise<unknown> | void)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });
  return {
    serve: async (options) => {
      const server = await startRedis(options);
      cleanups.push(() => server.stop());
      return server;
    },
    connectTo: (url) => {
      const redis = new Redis(url, { retryStrategy: () => 20, maxRetriesPerRequest: null });
      redis.on('error', () => undefined);
      cleanups.push(() => redis.disconnect());
      return redis;
    },
    cleanUp: (cleanup) => void cleanups.push(cleanup),
  };
}

/** Its data is the same after it, but for what its settings let it lose. */
export async function restart(server: RedisServer): Promise<void> {
  await server.kill();
  await server.start();
}
