import { Journal, type JournalOptions } from '@tollgate/journal';
import { Redis } from 'ioredis';

import { startRedis, type RedisServer } from '../../tools/devnet/processes/redis.js';
import { readRedisPid } from '../tollgate.js';

export interface BenchJournal {
  journal: Journal;
  redis: Redis;
  server: RedisServer;
  redisPid: number;
  stop: () => Promise<void>;
}

/** A journal on a Redis of its own that writes each transition to disk before it answers, by default. */
export async function openJournal(
  options: Omit<JournalOptions, 'redis'> & { appendfsync?: 'always' | 'no' } = {},
): Promise<BenchJournal> {
  const { appendfsync = 'always', ...rest } = options;
  const server = await startRedis({ appendfsync });
  const redis = new Redis(server.url);
  const stop = async (): Promise<void> => {
    redis.disconnect();
    await server.stop();
  };
  try {
    // On a busy machine a whole batch may wait; it is measured, not given up.
    const journal = new Journal({ redis, timeoutMs: 30_000, maxOpenJobs: 100_000, ...rest });
    await journal.open();
    return { journal, redis, server, redisPid: await readRedisPid(server.url), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
