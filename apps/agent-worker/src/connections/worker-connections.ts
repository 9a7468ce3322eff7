import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { AGENT_JOBS_QUEUE, openQueue, WakeQueues } from '@tollgate/agent-jobs';
import { REDIS_LOGGER } from '@tollgate/common';
import { Chain, Journal } from '@tollgate/journal';
import { closeWithin, connectRedis, type RedisClient } from '@tollgate/redis';
import type { Queue } from 'bullmq';

import { AgentWorkerEnvironment } from '../config/agent-worker.config.js';
import { LaneTroubles } from './lane-troubles.js';

const CLOSE_WITHIN_MS = 1_000;

/** The connections of this process, open as long as it runs; each retries until its Redis is up. */
@Injectable()
export class WorkerConnections implements OnApplicationShutdown {
  readonly journalRedis: RedisClient;
  /** Fails commands while Redis is down. */
  readonly queueRedis: RedisClient;
  /** Holds commands until Redis is back; BullMQ duplicates it for its own connections. */
  readonly consumerRedis: RedisClient;
  readonly journal: Journal;
  readonly chain: Chain;
  readonly wakeQueues: WakeQueues;
  readonly agentJobs: Queue;

  constructor(
    @Inject(AgentWorkerEnvironment) { redis, chain }: AgentWorkerEnvironment,
    @Inject(LaneTroubles) troubles: LaneTroubles,
  ) {
    const queues = { url: redis.queueRedisUrl, logger: REDIS_LOGGER };
    this.journalRedis = connectRedis({ url: redis.redisUrl, role: 'journal', logger: REDIS_LOGGER });
    const { durability, bookLimit } = redis;
    this.journal = new Journal({ redis: this.journalRedis, durability, bookLimit });
    this.queueRedis = connectRedis({ ...queues, role: 'agent-queues' });
    this.consumerRedis = connectRedis({ ...queues, role: 'agent-consumers', use: 'blocking' });
    this.chain = new Chain({
      chainId: chain.chainId,
      rpcUrls: chain.rpcUrl,
      timeoutMs: chain.rpcTimeoutMs,
      batchSize: chain.rpcCallsPerRequest,
    });
    this.wakeQueues = new WakeQueues({
      connection: this.queueRedis,
      onTrouble: (error) => troubles.report('', error),
    });
    this.agentJobs = openQueue(AGENT_JOBS_QUEUE, this.queueRedis);
  }

  /** Runs last: lanes and consumers have stopped, or their time is up. */
  async onApplicationShutdown(): Promise<void> {
    await closeWithin(CLOSE_WITHIN_MS, this.wakeQueues, this.agentJobs, this.chain);
    for (const redis of [this.consumerRedis, this.queueRedis, this.journalRedis]) redis.disconnect();
  }
}
