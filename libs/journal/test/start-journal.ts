import { Redis } from 'ioredis';

import { startRedis, type RedisServer } from '../../../tools/devnet/processes/redis.js';
import { Journal, type JournalOptions } from '../src/store/journal.js';

export interface StartedJournal {
  readonly server: RedisServer;
  readonly redis: Redis;
  readonly journal: Journal;
  stop(): Promise<void>;
}

/** An open journal on a Redis server of its own, without persistence. */
export async function startJournal(options: Omit<JournalOptions, 'redis'> = {}): Promise<StartedJournal> {
  const server = await startRedis({ appendfsync: 'no' });
  const redis = new Redis(server.url);
  const journal = new Journal({ timeoutMs: 30_000, ...options, redis });
  await journal.open();
  const stop = async (): Promise<void> => {
    redis.disconnect();
    await server.stop();
  };
  return { server, redis, journal, stop };
}
