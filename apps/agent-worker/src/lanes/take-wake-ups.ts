import { once } from 'node:events';

import { serveQueue, wakeQueueOf } from '@tollgate/agent-jobs';
import { closeWithin, type RedisClient } from '@tollgate/redis';

import type { Attendant } from './attend-lane.js';

export interface WakeUpOptions {
  /** To the Redis of the queues, for blocking commands; BullMQ duplicates it for its own connections. */
  connection: RedisClient;
  wake: (jobId: string) => void;
}

const CLOSE_WITHIN_MS = 2000;

/** Takes the wake-ups of a lane. Only the lane's holder may: any other process would lose them. */
export function takeWakeUps({ connection, wake }: WakeUpOptions): Attendant {
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
