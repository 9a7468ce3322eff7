import { once } from 'node:events';

import { serveQueue, wakeQueueOf } from '@tollgate/agent-jobs';
import type { LaneRunnerOptions } from '@tollgate/journal';
import { closeWithin, type RedisClient } from '@tollgate/redis';

/** Does one task for a lane while this process holds it; resolves soon after `signal` is aborted. */
export type LaneTask = NonNullable<LaneRunnerOptions['whileHeld']>;

/** Runs all tasks concurrently. If one fails, the lane's runner starts all of them again. */
export function runLaneTasks(tasks: readonly LaneTask[]): LaneTask {
  return async ({ lane, token, signal }) => {
    const failed = new AbortController();
    const held = { lane, token, signal: AbortSignal.any([signal, failed.signal]) };
    const ends = await Promise.allSettled(
      tasks.map((task) =>
        task(held).catch((error: unknown) => {
          failed.abort();
          throw error;
        }),
      ),
    );
    const failure = ends.find((end) => end.status === 'rejected');
    if (failure) throw failure.reason;
  };
}

interface WakeUpOptions {
  /** To the Redis of the queues, for blocking commands; BullMQ duplicates it for its own connections. */
  connection: RedisClient;
  wake: (jobId: string) => void;
}

const CLOSE_WITHIN_MS = 2000;

/** Takes the wake-ups of a lane. Only the lane's holder may: any other process would lose them. */
export function takeWakeUps({ connection, wake }: WakeUpOptions): LaneTask {
  return async ({ lane, signal }) => {
    const worker = serveQueue(
      wakeQueueOf(lane),
      ({ data }) => {
        if (typeof data.jobId === 'string') wake(data.jobId);
        return Promise.resolve();
      },
      {
        connection,
        concurrency: 16,
        // A wake-up that a killed process had taken is not needed: reconciling finds its job.
        maxStalledCount: 0,
        removeOnComplete: { count: 0 },
        removeOnFail: { count: 0 },
      },
    );
    // Without a listener an `error` event ends the process. The connections report their own state.
    worker.on('error', () => undefined);
    if (!signal.aborted) await once(signal, 'abort');
    await closeWithin(CLOSE_WITHIN_MS, worker);
  };
}
