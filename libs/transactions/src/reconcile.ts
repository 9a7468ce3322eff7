import type { LaneId } from './job.js';
import type { Journal } from './journal.js';
import { pause } from './pause.js';
import type { JobQueue } from './ports.js';

export interface Reconciler {
  stop(): Promise<void>;
}

/** Wakes every open job of a lane, oldest first; those with a nonce first of all, since others wait behind them. */
export async function reconcileLane(journal: Journal, queue: JobQueue, lane: LaneId): Promise<void> {
  const [inFlight, open] = await Promise.all([journal.readInFlight(lane), journal.readOpenJobs(lane)]);
  for (const jobId of new Set([...inFlight.map((step) => step.jobId), ...open])) await queue.wake(jobId, lane);
}

/**
 * Wakes every open job of every lane now and every `everyMs` (default 10 seconds), so that no lost message loses a job.
 * What fails is reported and tried again the next time.
 */
export function startReconciling(options: {
  journal: Journal;
  queue: JobQueue;
  everyMs?: number;
  onTrouble: (error: unknown) => void;
}): Reconciler {
  const { journal, queue, everyMs = 10_000, onTrouble } = options;
  const stop = new AbortController();
  const reconcile = async (): Promise<void> => {
    try {
      for (const lane of await journal.readLanes()) {
        if (stop.signal.aborted) return;
        await reconcileLane(journal, queue, lane);
      }
    } catch (error) {
      onTrouble(error);
    }
  };
  const running = (async () => {
    while (!stop.signal.aborted) {
      await reconcile();
      await pause(everyMs, stop.signal);
    }
  })();
  return {
    stop: () => {
      stop.abort();
      return running;
    },
  };
}
