import { Inject, Module } from '@nestjs/common';
import { observeCounts } from '@tollgate/common';
import { PATTERNS, PLAN_QUEUE, RequestReplyServer } from '@tollgate/transport';
import { Registry } from 'prom-client';

import { AgentWorkerEnvironment } from '../config/agent-worker.config.js';
import { PlanJobController } from './plan-job.controller.js';
import { Plannings } from './plannings.js';

/** Plans jobs, for the lanes and for the dry runs of gateways. */
@Module({
  controllers: [PlanJobController],
  providers: [
    Plannings,
    {
      provide: RequestReplyServer,
      inject: [AgentWorkerEnvironment],
      useFactory: ({ redis, ownWallets, smallStopMs }: AgentWorkerEnvironment) =>
        new RequestReplyServer({
          redisUrl: redis.queueRedisUrl,
          queue: PLAN_QUEUE,
          patterns: PATTERNS[PLAN_QUEUE],
          routingKeys: ownWallets.map(({ name }) => name),
          closeTimeoutMs: Math.ceil(smallStopMs),
        }),
    },
  ],
  exports: [Plannings],
})
export class PlanningModule {
  constructor(@Inject(Registry) registry: Registry, @Inject(RequestReplyServer) server: RequestReplyServer) {
    observeCounts(registry, 'tollgate_agent_plan_requests', 'Dry runs, by outcome.', () => server.counts);
  }
}
