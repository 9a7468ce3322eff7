import { Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Journal } from '@tollgate/journal';
import { closeWithin } from '@tollgate/redis';
import { Registry } from 'prom-client';

import { AgentWorkerEnvironment } from '../config/agent-worker.config.js';
import { LaneTroubles } from '../connections/lane-troubles.js';
import { JobMetrics } from '../metrics/job-metrics.js';
import { EventBell, EventPumps, NestEvents } from './event-pumps.js';
import { JobWebhooks } from './job-webhooks.js';
import { createEventCounter, observeEventLag } from './observe-events.js';

const CLOSE_WITHIN_MS = 1_000;

/** Delivers the events of the held lanes to metrics, other services and webhooks. */
@Module({
  providers: [
    JobMetrics,
    JobWebhooks,
    {
      provide: NestEvents,
      inject: [AgentWorkerEnvironment],
      useFactory: ({ redis }: AgentWorkerEnvironment) => new NestEvents(redis.queueRedisUrl),
    },
    {
      provide: EventBell,
      inject: [AgentWorkerEnvironment, LaneTroubles],
      useFactory: ({ redis }: AgentWorkerEnvironment, troubles: LaneTroubles) =>
        new EventBell(redis.redisUrl, (error) => troubles.report('', error)),
    },
    {
      provide: EventPumps,
      inject: [Registry, Journal, LaneTroubles, EventBell, JobMetrics, NestEvents, JobWebhooks],
      useFactory: createPumps,
    },
  ],
  exports: [EventPumps, JobMetrics, JobWebhooks],
})
export class EventsModule implements OnApplicationShutdown {
  constructor(
    @Inject(EventBell) private readonly bell: EventBell,
    @Inject(NestEvents) private readonly nestEvents: NestEvents,
  ) {}

  onApplicationShutdown(): Promise<void> {
    return closeWithin(CLOSE_WITHIN_MS, this.bell, this.nestEvents);
  }
}

function createPumps(
  registry: Registry,
  journal: Journal,
  troubles: LaneTroubles,
  bell: EventBell,
  metrics: JobMetrics,
  nestEvents: NestEvents,
  webhooks: JobWebhooks,
): EventPumps {
  const pumps = new EventPumps({
    journal,
    bell,
    consumers: [metrics, nestEvents, webhooks],
    onTrouble: (error) => troubles.report('', error),
    onTaken: createEventCounter(registry),
  });
  observeEventLag(registry, pumps, journal);
  return pumps;
}
