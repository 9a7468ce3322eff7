import { nameLane, type LaneId } from '@tollgate/journal';
import { AGENT_JOBS_QUEUE, AGENT_QUEUE_PREFIX } from '@tollgate/protocol';
import type { RedisClient } from '@tollgate/redis';
import type { QueueJobs } from '@tollgate/transport';
import { Queue, Worker, type Processor, type WorkerOptions } from 'bullmq';

export { AGENT_JOBS_QUEUE, AGENT_QUEUE_PREFIX };

/** Wake-ups for the jobs of one lane. */
export function wakeQueueOf(lane: LaneId): `agent-wake-${string}` {
  return `agent-wake-${nameLane(lane).replace(':', '-')}`;
}

/** @param connection to the Redis of the queues, from `connectRedis`; it stays open when the queue is closed */
export function openQueue<Name extends keyof QueueJobs>(
  name: Name,
  connection: RedisClient,
): Queue<QueueJobs[Name]['data']> {
  const queue = new Queue<QueueJobs[Name]['data']>(name, {
    connection,
    prefix: AGENT_QUEUE_PREFIX,
    skipWaitingForReady: true,
  });
  // Without a listener an `error` event ends the process. The connection reports its own state.
  queue.on('error', () => undefined);
  return queue;
}

/** Takes the jobs of a queue. The caller listens to `error`: an event without a listener ends the process. */
export function serveQueue<Name extends keyof QueueJobs>(
  name: Name,
  take: Processor<QueueJobs[Name]['data'], QueueJobs[Name]['result']>,
  options: Omit<WorkerOptions, 'prefix' | 'runRetryDelay'>,
): Worker<QueueJobs[Name]['data'], QueueJobs[Name]['result']> {
  return new Worker<QueueJobs[Name]['data'], QueueJobs[Name]['result']>(name, take, {
    ...options,
    prefix: AGENT_QUEUE_PREFIX,
    runRetryDelay: 1_000,
  });
}
