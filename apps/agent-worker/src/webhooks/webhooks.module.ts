import { Inject, Module, type OnModuleDestroy } from '@nestjs/common';
import { Registry } from 'prom-client';

import { AgentWorkerEnvironment } from '../config/agent-worker.config.js';
import { WorkerConnections } from '../connections/worker-connections.js';
import { Webhooks } from './webhooks.js';

@Module({
  providers: [
    {
      provide: Webhooks,
      inject: [WorkerConnections, AgentWorkerEnvironment, Registry],
      useFactory: (to: WorkerConnections, { agent, webhooks: settings }: AgentWorkerEnvironment, registry: Registry) =>
        new Webhooks({ ...to, agent, settings, registry }),
    },
  ],
  exports: [Webhooks],
})
export class WebhooksModule implements OnModuleDestroy {
  constructor(
    @Inject(Webhooks) private readonly webhooks: Webhooks,
    @Inject(AgentWorkerEnvironment) private readonly environment: AgentWorkerEnvironment,
  ) {}

  /** The lanes are released by now; another worker posts their last events. */
  onModuleDestroy(): Promise<void> {
    return this.webhooks.close(this.environment.smallStopMs);
  }
}
