import { setTimeout as sleep } from 'node:timers/promises';

import { Journal } from '@tollgate/journal';
import { Redis } from 'ioredis';

import type { Stack } from '../../tools/devnet/stack/stack.js';

export interface JobWatch {
  /** Incremented by the code that submits. */
  submitted: number;
  /** As of the last poll. */
  readonly openJobs: number;
  /** Waits until so many jobs have ended; throws when none ends for two minutes. */
  untilEnded(count: number): Promise<void>;
  stop(): Promise<void>;
}

const LOOK_EVERY_MS = 100;
const TELL_EVERY_MS = 5_000;
const STUCK_MS = 120_000;

/** Polls the lanes of a stack's wallets in the journal, and logs the progress now and then. */
export async function watchJobs(
  stack: Stack,
  plan: { jobs: number; onProgress: (line: string) => void },
): Promise<JobWatch> {
  const redis = new Redis(stack.redis.url);
  redis.on('error', () => undefined);
  const journal = new Journal({ redis, timeoutMs: 2_000 });
  const lanes = stack.agents!.wallets.map(({ lane }) => lane);
  const startedAtMs = Date.now();
  let openJobs = 0;
  let movedAtMs = Date.now();
  let toldAtMs = Date.now();
  let ended = 0;
  let isOver = false;

  const look = async () => {
    // Counted before the poll: a job that is submitted meanwhile must not count as ended.
    const { submitted } = watch;
    const counts = await Promise.all(lanes.map((lane) => journal.readLane(lane)));
    openJobs = counts.reduce((sum, lane) => sum + lane.openJobs, 0);
    const endedNow = Math.max(ended, submitted - openJobs);
    if (endedNow > ended) movedAtMs = Date.now();
    ended = endedNow;
    if (Date.now() - toldAtMs < TELL_EVERY_MS) return;
    toldAtMs = Date.now();
    const seconds = Math.round((toldAtMs - startedAtMs) / 1000);
    plan.onProgress(`${seconds} s: ${submitted} of ${plan.jobs} submitted, ${ended} ended, ${openJobs} open`);
  };
  const looking = (async () => {
    while (!isOver) {
      // Redis is killed now and then.
      await look().catch(() => undefined);
      await sleep(LOOK_EVERY_MS);
    }
  })();

  const watch: JobWatch = {
    submitted: 0,
    get openJobs() {
      return openJobs;
    },
    untilEnded: async (count) => {
      while (ended < count) {
        if (Date.now() - movedAtMs > STUCK_MS) throw new Error(`${ended} jobs have ended, and no more do`);
        await sleep(LOOK_EVERY_MS / 2);
      }
    },
    stop: async () => {
      isOver = true;
      await looking;
      redis.disconnect();
    },
  };
  return watch;
}
