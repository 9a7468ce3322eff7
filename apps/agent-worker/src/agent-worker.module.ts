import { getQueueToken } from '@nestjs/bullmq';
import { Inject, Module, type DynamicModule, type OnApplicationShutdown } from '@nestjs/common';
import {
  checkRedis,
  connectRedis,
  createLoggerParams,
  HealthModule,
  listSecrets,
  MetricsModule,
  observeGauge,
} from '@tollgate/common';
import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { LoggerModule } from 'nestjs-pino';
import { Registry } from 'prom-client';

import { AGENT_JOBS, AgentJobsModule } from './agent-jobs.module.js';
import type { AgentWorkerEnvironment } from './agent-worker.config.js';

const JOURNAL_REDIS = Symbol('Redis of the journal');

@Module({})
export class AgentWorkerModule implements OnApplicationShutdown {
  constructor(
    @Inject(JOURNAL_REDIS) private readonly redis: Redis,
    @Inject(getQueueToken(AGENT_JOBS)) queue: Queue,
    @Inject(Registry) registry: Registry,
  ) {
    const readWaiting = async () => queue.getWaitingCount();
    observeGauge(registry, 'tollgate_agent_jobs_waiting', 'Jobs that no worker has taken.', readWaiting);
  }

  static forRoot(environment: AgentWorkerEnvironment): DynamicModule {
    const redis = connectRedis({ url: environment.redis.redisUrl, role: 'journal' });
    const agentJobs = AgentJobsModule.forRoot(environment.redis.queueRedisUrl);
    return {
      module: AgentWorkerModule,
      imports: [
        LoggerModule.forRoot(
          createLoggerParams({ service: 'agent-worker', log: environment.log, secrets: listSecrets(environment) }),
        ),
        MetricsModule.forRoot({ service: 'agent-worker' }),
        agentJobs,
        HealthModule.forRootAsync({
          imports: [agentJobs],
          inject: [getQueueToken(AGENT_JOBS)],
          useFactory: (queue: Queue) => ({ redis: checkRedis(redis), [AGENT_JOBS]: () => queue.getWaitingCount() }),
        }),
      ],
      providers: [{ provide: JOURNAL_REDIS, useValue: redis }],
    };
  }

  onApplicationShutdown(): void {
    this.redis.disconnect();
  }
}
