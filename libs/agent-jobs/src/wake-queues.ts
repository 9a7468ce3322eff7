import { nameLane, type JobQueue, type LaneId } from '@tollgate/transactions';
import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';

import { AGENT_QUEUE_PREFIX, wakeQueueOf, type WakeUp } from './queues.js';

export interface WakeQueuesOptions {
  /** Of the queues' Redis, from `connectRedis`; it is shared and stays open at `close`. */
  connection: Redis;
  /** How long a caller waits for the wake-up to stand in the queue. Default 1 second. */
  timeoutMs?: number;
  /** A wake-up that was not put into its queue; the lane's holder finds the job without it, some seconds later. */
  onTrouble: (error: unknown) => void;
}

/**
 * Wakes jobs in whichever process holds their lane. A wake-up carries nothing that is not in the journal, so a lost one
 * only costs time: `wake` never rejects, and whoever accepts a job can say so.
 */
export class WakeQueues implements JobQueue {
  readonly #queues = new Map<string, Queue<WakeUp>>();

  constructor(private readonly options: WakeQueuesOptions) {}

  async wake(jobId: string, lane: LaneId): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const { timeoutMs = 1000, onTrouble } = this.options;
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer from the queue within ${timeoutMs} ms`)), timeoutMs);
    });
    // No id of its own: a queue drops an id that it has, and what the earlier wake-up saw may be out of date.
    const adding = this.#queueOf(lane).add('wake', { jobId }, { removeOnComplete: true, removeOnFail: true });
    try {
      await Promise.race([adding, timeout]);
    } catch (error) {
      onTrouble(error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Of lanes that were woken from here. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.#queues.values()].map((queue) => queue.close()));
    this.#queues.clear();
  }

  #queueOf(lane: LaneId): Queue<WakeUp> {
    const name = nameLane(lane);
    const known = this.#queues.get(name);
    if (known) return known;
    const queue = new Queue<WakeUp>(wakeQueueOf(lane), {
      connection: this.options.connection,
      prefix: AGENT_QUEUE_PREFIX,
      skipWaitingForReady: true,
    });
    // Without a listener an `error` event ends the process; the connection reports its own state.
    queue.on('error', () => undefined);
    this.#queues.set(name, queue);
    return queue;
  }
}
