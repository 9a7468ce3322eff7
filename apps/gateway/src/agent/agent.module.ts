import { Inject, Module } from '@nestjs/common';
import { observeGauge } from '@tollgate/common';
import { Registry } from 'prom-client';

import { ApiKeyAccess } from './access/api-key-access.js';
import { EventStreams } from './events/event-streams.js';
import { EventsController } from './events/events.controller.js';
import { JobDecisionsController } from './jobs/job-decisions.controller.js';
import { JobSubmission } from './jobs/job-submission.js';
import { JobsController } from './jobs/jobs.controller.js';
import { Jobs } from './jobs/jobs.js';
import { QueueBoard } from './queue-board/queue-board.js';
import { AgentConnections } from './shared/agent-connections.js';
import { WebhooksController } from './webhooks/webhooks.controller.js';

/** Serves everything below `/agent`: jobs that move money, for holders of API keys. */
@Module({
  controllers: [JobsController, JobDecisionsController, EventsController, WebhooksController],
  providers: [AgentConnections, ApiKeyAccess, Jobs, JobSubmission, EventStreams, QueueBoard],
  exports: [AgentConnections, ApiKeyAccess],
})
export class AgentModule {
  constructor(@Inject(Registry) registry: Registry, @Inject(EventStreams) streams: EventStreams) {
    observeGauge(registry, 'tollgate_agent_event_streams', 'Open event streams.', () => streams.count);
  }
}
