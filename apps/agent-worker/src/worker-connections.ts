import { AGENT_JOBS_QUEUE, openQueue, WakeQueues } from '@tollgate/agent-jobs';
import { REDIS_LOGGER } from '@tollgate/common';
import { Chain } from '@tollgate/journal';
import { connectRedis } from '@tollgate/redis';
import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';

import type { AgentWorkerEnvironment } from './agent-worker.config.js';
import { closeWithin } from './consumers/close-within.js';
import { EventBell } from './events/event-bell.js';
import { NestEvents } from './events/nest-events.js';

const CLOSE_WITHIN_MS = 2000;

/** The connections of this process, open as long as it runs. */
export interface WorkerConnections {
  journalRedis: Redis;
  /** Fails commands while Redis is down. */
  queueRedis: Redis;
  /** Holds commands until Redis is back; BullMQ duplicates it for its own connections. */
  consumerRedis: Redis;
  chain: Chain;
  wakeQueues: WakeQueues;
  agentJobs: Queue;
  bell: EventBell;
  nestEvents: NestEvents;
}

/** Returns without waiting; each connection retries until its Redis is up. */
export function connectWorker(
  { redis, chain }: AgentWorkerEnvironment,
  onTrouble: (error: unknown) => void,
): WorkerConnections {
  const queueRedis = connectRedis({ url: redis.queueRedisUrl, role: 'agent-queues', logger: REDIS_LOGGER });
  return {
    queueRedis,
    agentJobs: openQueue(AGENT_JOBS_QUEUE, queueRedis),
    journalRedis: connectRedis({ url: redis.redisUrl, role: 'journal', logger: REDIS_LOGGER }),
    consumerRedis: connectRedis({
      url: redis.queueRedisUrl,
      role: 'agent-consumers',
      use: 'blocking',
      logger: REDIS_LOGGER,
    }),
    chain: new Chain({
      chainId: chain.chainId,
      rpcUrls: chain.rpcUrl,
      timeoutMs: chain.rpcTimeoutMs,
      batchSize: chain.rpcCallsPerRequest,
    }),
    wakeQueues: new WakeQueues({ connection: queueRedis, onTrouble }),
    bell: new EventBell(redis.redisUrl, onTrouble),
    nestEvents: new NestEvents(redis.queueRedisUrl),
  };
}

/** Closes users of a connection before the connection itself. */
export async function disconnectWorker(connections: WorkerConnections): Promise<void> {
  const { bell, nestEvents, wakeQueues, agentJobs, chain, consumerRedis, queueRedis, journalRedis } = connections;
  await closeWithin(CLOSE_WITHIN_MS, bell, nestEvents, wakeQueues, agentJobs, chain);
  for (const redis of [consumerRedis, queueRedis, journalRedis]) redis.disconnect();
}
