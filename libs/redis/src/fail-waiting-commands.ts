import type { Cluster, Redis } from 'ioredis';

import type { ClientOptions } from './redis-url.js';

const READY_WITHIN_MS = 5_000;

/** Parts of the driver that its types keep private. */
interface Queues {
  flushQueue(error: Error, queues?: { commandQueue: boolean }): void;
  /** Commands that were sent on the last connection that was ready. */
  prevCommandQueue?: { shift(): { command: { reject(error: Error): void } } | undefined } | null;
}

/**
 * Fails a command that had been sent when the connection was lost together with those that wait for the next one. The
 * driver keeps it apart from these, and only a connection that gets ready would settle it.
 */
export function failUnanswered(redis: Redis): Redis {
  const driver = redis as unknown as Queues;
  const flushQueue = driver.flushQueue.bind(redis);
  driver.flushQueue = (error, queues) => {
    flushQueue(error, queues);
    for (let sent = driver.prevCommandQueue?.shift(); sent; sent = driver.prevCommandQueue?.shift()) {
      sent.command.reject(error);
    }
  };
  const most = redis.options.maxRetriesPerRequest;
  if (typeof most !== 'number') return redis;
  failWhileLoading(redis);
  if (redis.options.sentinels) failUnnamed(redis, most);
  return redis;
}

/** The driver would keep commands for as long as no Sentinel names a primary, and then carry them out. */
function failUnnamed(redis: Redis, most: number): void {
  let attempts = 0;
  redis.on('connect', () => (attempts = 0));
  // Once for all the Sentinels, and for a primary that they name and that cannot be reached.
  redis.on('error', () => {
    if (redis.status !== 'connecting' || ++attempts % (most + 1) !== 0) return;
    (redis as unknown as Queues).flushQueue(new Error('No Sentinel names a primary that can be reached.'));
  });
}

/** Fails what waits for a node that loads its data, and for a cluster that is not ready because of it. */
export function failWhileNodesLoad(cluster: Cluster): Cluster {
  if (cluster.options.redisOptions?.maxRetriesPerRequest === null) return cluster;
  failWhileLoading(cluster);
  cluster.on('+node', failWhileLoading);
  return cluster;
}

/** The driver would keep commands for as long as a server takes to load its data, and then carry them out. */
function failWhileLoading(redis: Redis | Cluster): void {
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    if (redis.status !== 'connect') return clearInterval(timer);
    const error = new Error('Redis is not ready: it may be loading its data.');
    // Not the commands of the driver itself, which ask whether it is ready.
    (redis as unknown as Queues).flushQueue(error, { commandQueue: false });
  };
  redis.on('connect', () => {
    clearInterval(timer);
    timer = setInterval(flush, READY_WITHIN_MS).unref();
  });
}

/**
 * Fails commands that wait for a cluster of which no node answers as those for one server fail: the driver would keep them
 * for as long as that lasts, and then carry out commands whose callers have long had an error.
 */
export function failWaiting(retryStrategy: NonNullable<ClientOptions['retryStrategy']>) {
  return function decide(this: Cluster, attempt: number): number | undefined {
    const most = this.options.redisOptions?.maxRetriesPerRequest;
    if (typeof most === 'number' && attempt % (most + 1) === 0) {
      (this as unknown as Queues).flushQueue(new Error('No node of the cluster answers.'));
    }
    return retryStrategy(attempt) ?? undefined;
  };
}
