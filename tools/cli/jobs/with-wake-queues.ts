import type { JobQueue } from '@tollgate/journal';
import { Redis } from 'ioredis';

import { WakeQueues } from '../../../libs/agent-jobs/src/queues/wake-queues.js';

/**
 * Runs the work with the queues that wake lanes. Where they do not answer, the work is done anyway, and the text
 * reports it.
 */
export async function withWakeQueues(url: string, work: (queue: JobQueue) => Promise<string>): Promise<string> {
  const redis = new Redis(url, { maxRetriesPerRequest: 1, retryStrategy: () => null });
  redis.on('error', () => undefined);
  let isAway = false;
  const queue = new WakeQueues({ connection: redis, onTrouble: () => (isAway = true) });
  try {
    const text = await work(queue);
    return isAway ? `${text}\nThe queues' Redis did not answer: a worker finds the job some seconds later.` : text;
  } finally {
    // Closing would wait for a connection that may never come.
    redis.disconnect();
    void queue.close();
  }
}
