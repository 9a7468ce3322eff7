import { setTimeout as sleep } from 'node:timers/promises';

import { BOOK_GROUP, bucketEventsKey } from '@tollgate/book-events';
import { BUCKETS, type Ledger } from '@tollgate/ledger';
import { Redis } from 'ioredis';

import { startRedis } from '../../../tools/devnet/processes/redis.js';
import type { ServiceProcess } from '../../../tools/devnet/processes/service-process.js';
import { startBenchChain } from '../../bench-chain.js';
import type { LaneOptions, LaneRow } from '../../lane.js';
import { summarize, timeEach } from '../../load/time-each.js';
import { runRounds, type Case, type Sample } from '../../run-rounds.js';
import type { KeepUntilEnd } from '../../with-cleanup.js';
import { openBenchLedger, sell } from './booked-ledger.js';
import { startBenchBookkeeper, STORES } from './start-bench-bookkeeper.js';

const SOLD_AT_ONCE = 128;
const LOOK_EVERY_MS = 20;

/** The events that a bookkeeper writes into the book in a second, and how long a lone payment takes until it is there. */
export async function measureBookkeepers(
  { rounds, quick, progress }: LaneOptions,
  keep: KeepUntilEnd,
): Promise<LaneRow[]> {
  const [events, alone] = quick ? [1_000, 3] : [20_000, 20];
  const chain = keep(await startBenchChain());
  const drains: Case = { name: `outbox of ${events} events`, baseline: 'PostgreSQL', subjects: [] };
  const delays: Case = { name: 'one payment until it is in the book', baseline: 'PostgreSQL', subjects: [] };
  for (const store of STORES) {
    const server = keep(await startRedis());
    const ledger = await openBenchLedger(server.url, true, keep);
    const redis = new Redis(server.url);
    keep({ stop: async () => redis.disconnect() });
    const { bookkeeper } = await startBenchBookkeeper(store, { redis: server, chain }, keep);
    const isEmpty = async () => (await readLag(redis)) === 0;
    drains.subjects.push({ name: store, measure: () => drain({ bookkeeper, ledger, events, isEmpty }) });
    const sellAndWait = async (): Promise<void> => {
      await sell(ledger, 1, 1);
      while (!(await isEmpty())) await sleep(LOOK_EVERY_MS);
    };
    let left = alone;
    const measure = () => {
      left = alone;
      return timeEach(1, () => (left-- > 0 ? sellAndWait() : undefined));
    };
    delays.subjects.push({ name: store, measure });
  }
  return runRounds([drains, delays], rounds, progress);
}

interface DrainTerms {
  bookkeeper: ServiceProcess | null;
  ledger: Ledger;
  events: number;
  isEmpty: () => Promise<boolean>;
}

/** Fills the outbox while the bookkeeper stands still, and takes the time from there until all is acknowledged. */
async function drain({ bookkeeper, ledger, events, isEmpty }: DrainTerms): Promise<Sample> {
  bookkeeper?.signal('SIGSTOP');
  await sell(ledger, events, SOLD_AT_ONCE);
  bookkeeper?.signal('SIGCONT');
  const startedMs = performance.now();
  while (!(await isEmpty())) await sleep(LOOK_EVERY_MS);
  return summarize(events, performance.now() - startedMs, []);
}

/** Events that are not in the book. */
export async function readLag(redis: Redis): Promise<number> {
  const pipeline = redis.pipeline();
  for (let bucket = 0; bucket < BUCKETS; bucket++) pipeline.xinfo('GROUPS', bucketEventsKey(bucket));
  const replies = (await pipeline.exec()) ?? [];
  return replies.reduce((sum, [error, groups]) => {
    if (error) throw error;
    const group = (groups as unknown[][]).find((fields) => fields.includes(BOOK_GROUP)) ?? [];
    const read = (name: string): number => Number(group[group.indexOf(name) + 1]);
    return sum + read('lag') + read('pending');
  }, 0);
}
