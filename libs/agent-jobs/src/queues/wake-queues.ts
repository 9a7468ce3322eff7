import { nameLane, type JobQueue, type LaneId } from '@tollgate/journal';
import { type RedisClient, withTimeout } from '@tollgate/redis';
import type { WakeUp } from '@tollgate/transport';
import type { Queue } from 'bullmq';

import { openQueue, wakeQueueOf } from './queues.js';

export interface WakeQueuesOptions {
  /** To the Redis of the queues, from `connectRedis`; it is shared and stays open at `close`. */
  connection: RedisClient;
  /** How long a caller waits until the wake-up is in the queue. Default 1 second. */
  timeoutMs?: number;
  /** Called for a wake-up that could not be queued. The lane's holder finds the job without it, some seconds later. */
  onTrouble: (error: unknown) => void;
}

/**
 * Wakes jobs in whichever process holds their lane. A wake-up contains nothing that is not in the journal, so a lost
 * one only costs time: `wake` never rejects, and a job can be reported as accepted regardless of it.
 */
export class WakeQueues implements JobQueue {
  readonly #queues = new Map<string, Queue<WakeUp>>();

  constructor(private readonly options: WakeQueuesOptions) {}

  async wake(jobId: string, lane: LaneId): Promise<void> {
    const { timeoutMs = 1000, onTrouble } = this.options;
    // No id of its own: a queue ignores an id that it has, and the job may have changed since the earlier wake-up was
    // handled.
    const adding = this.#queueOf(lane).add('wake', { jobId }, { removeOnComplete: true, removeOnFail: true });
    try {
      await withTimeout(adding, timeoutMs, ' from the queue');
    } catch (error) {
      onTrouble(error);
    }
  }

  /** The queues of lanes that this process has woken. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.#queues.values()].map((queue) => queue.close()));
    this.#queues.clear();
  }

  #queueOf(lane: LaneId): Queue<WakeUp> {
    const name = nameLane(lane);
    const known = this.#queues.get(name);
    if (known) return known;
    const queue = openQueue(wakeQueueOf(lane), this.options.connection);
    this.#queues.set(name, queue);
    return queue;
  }
}
