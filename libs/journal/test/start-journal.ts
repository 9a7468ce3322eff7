import { Redis } from 'ioredis';

import { borrowRedis, useRedis, type BorrowedRedis } from '../../../test/harness/stack/borrow-redis.js';
import type { LaneId } from '../src/jobs/job.js';
import type { LaneLease } from '../src/jobs/transition.js';
import { Journal, type JournalOptions } from '../src/store/journal.js';
import { sampleLane } from './sample-jobs.js';

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

/** A journal in an empty Redis for the tests of a file, which is open for their hooks and them. */
export function useJournal(options: Omit<JournalOptions, 'redis'> = {}): { redis: Redis; journal: Journal } {
  const redis = useRedis();
  const journal = new Journal({ timeoutMs: 30_000, ...options, redis });
  beforeAll(() => journal.open());
  return { redis, journal };
}

export interface OpenLane {
  lane: LaneId;
  lease: LaneLease;
  token: number;
}

/** A new account that the journal has adopted, with the lease of a worker. */
export async function openLane(journal: Journal, pendingNonce = 0): Promise<OpenLane> {
  const lane = sampleLane();
  await journal.adopt(lane, { pendingNonce });
  const lease = await journal.takeLease(lane, 'worker', 600_000);
  if (lease === null) throw new Error('another worker has the lane');
  return { lane, lease, token: lease.token };
}
