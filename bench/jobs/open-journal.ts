import { Journal, type JournalOptions } from '@tollgate/journal';
import { Redis } from 'ioredis';

import { startRedis, type RedisServer } from '../../tools/devnet/processes/redis.js';
import { readRedisPid } from '../tollgate.js';
import type { KeepUntilEnd } from '../with-cleanup.js';

export interface BenchJournal {
  journal: Journal;
  redis: Redis;
  server: RedisServer;
  redisPid: number;
}

/** A journal on a Redis of its own that writes each transition to disk before it answers, by default. */
export async function openJournal(
  keep: KeepUntilEnd,
  { appendfsync = 'always', ...options }: Omit<JournalOptions, 'redis'> & { appendfsync?: 'always' | 'no' } = {},
): Promise<BenchJournal> {
  const server = keep(await startRedis({ appendfsync }));
  const redis = new Redis(server.url);
  keep({ stop: async () => redis.disconnect() });
  // On a busy machine a whole batch may wait; it is measured, not given up.
  const journal = new Journal({ redis, timeoutMs: 30_000, maxOpenJobs: 100_000, ...options });
  await journal.open();
  return { journal, redis, server, redisPid: await readRedisPid(server.url) };
}
