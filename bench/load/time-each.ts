import { noteProgress } from '../fail-when-stalled.js';
import type { Sample } from '../run-rounds.js';

/** Begins work as long as `next` gives some, so much at a time, and takes the time of each. */
export async function timeEach(atOnce: number, next: () => Promise<unknown> | undefined): Promise<Sample> {
  const timesMs: number[] = [];
  const repeat = async (): Promise<void> => {
    for (;;) {
      const begunMs = performance.now();
      const work = next();
      if (work === undefined) return;
      await work;
      noteProgress();
      timesMs.push(performance.now() - begunMs);
    }
  };
  const startedMs = performance.now();
  await Promise.all(Array.from({ length: atOnce }, repeat));
  return summarize(timesMs.length, performance.now() - startedMs, timesMs);
}

/** A rate, and the middle and the worst of some times in milliseconds. */
export function summarize(count: number, tookMs: number, timesMs: number[] | Float64Array): Sample {
  const sorted = timesMs.sort((a, b) => a - b);
  const at = (part: number): number => sorted[Math.floor(sorted.length * part)] ?? NaN;
  return { perSecond: (count / tookMs) * 1000, p50Ms: at(0.5), p99Ms: at(0.99), failed: 0 };
}
