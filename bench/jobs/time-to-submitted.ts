import { eventsKey, type LaneId } from '@tollgate/journal';
import { Redis } from 'ioredis';

import { noteProgress } from '../fail-when-stalled.js';
import { summarize } from '../load/time-each.js';
import type { Sample } from '../run-rounds.js';

/** Calls back with the job's id when its lane's events report that a node took its transaction. */
async function watchSubmitted(redisUrl: string, lane: LaneId, onSubmitted: (jobId: string) => void): Promise<Redis> {
  const redis = new Redis(redisUrl);
  const [newest] = await redis.xrevrange(eventsKey(lane), '+', '-', 'COUNT', 1);
  let last = newest?.[0] ?? '0-0';
  const watch = async (): Promise<void> => {
    for (;;) {
      const streams = await redis.xread('BLOCK', 0, 'STREAMS', eventsKey(lane), last);
      for (const [id, fields] of streams?.flatMap(([, entries]) => entries) ?? []) {
        last = id;
        const text = (name: string): string => fields[fields.indexOf(name) + 1] ?? '';
        if (text('type') === 'transactionSubmitted') onSubmitted(text('job'));
      }
    }
  };
  // Ends with an error when the connection is closed.
  watch().catch(() => undefined);
  return redis;
}

/**
 * Times jobs from the moment before `submit`, which answers the accepted job's id, to their `transactionSubmitted`, so many
 * at a time.
 */
export async function timeToSubmitted(options: {
  redisUrl: string;
  lane: LaneId;
  count: number;
  atOnce: number;
  submit: () => Promise<string>;
}): Promise<Sample> {
  const { redisUrl, lane, count, atOnce, submit } = options;
  const told = new Map<string, number>();
  const waiting = new Map<string, (atMs: number) => void>();
  const redis = await watchSubmitted(redisUrl, lane, (jobId) => {
    const wake = waiting.get(jobId);
    if (wake) wake(performance.now());
    else told.set(jobId, performance.now());
  });
  const timesMs: number[] = [];
  let begun = 0;
  const repeat = async (): Promise<void> => {
    while (begun++ < count) {
      const startedMs = performance.now();
      const jobId = await submit();
      const early = told.get(jobId);
      const atMs = early ?? (await new Promise<number>((resolve) => waiting.set(jobId, resolve)));
      timesMs.push(atMs - startedMs);
      noteProgress();
    }
  };
  const startedMs = performance.now();
  await Promise.all(Array.from({ length: atOnce }, repeat));
  redis.disconnect();
  return summarize(count, performance.now() - startedMs, timesMs);
}
