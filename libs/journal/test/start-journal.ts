import { Redis } from 'ioredis';

import { borrowRedis, type BorrowedRedis } from '../../../test/harness/stack/borrow-redis.js';
import { Journal, type JournalOptions } from '../src/store/journal.js';

export interface StartedJournal {
  readonly server: BorrowedRedis;
  readonly redis: Redis;
  readonly journal: Journal;
  stop(): Promise<void>;
}

/** An open journal in an empty Redis, or in one that the test may kill. */
export async function startJournal(
  options: Omit<JournalOptions, 'redis'> = {},
  own?: BorrowedRedis,
): Promise<StartedJournal> {
  const server = own ?? (await borrowRedis());
  const redis = new Redis(server.url);
  redis.on('error', () => undefined);
  const journal = new Journal({ timeoutMs: 30_000, ...options, redis });
  await journal.open();
  const stop = async (): Promise<void> => {
    redis.disconnect();
    await server.stop();
  };
  return { server, redis, journal, stop };
}
