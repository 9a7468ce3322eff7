import { Inject, Module } from '@nestjs/common';
import { observeGauge } from '@tollgate/common';
import { Registry } from 'prom-client';

import { WorkerConnections } from '../connections/worker-connections.js';
import { LanesModule } from '../lanes/lanes.module.js';
import { AgentJobsConsumer } from './agent-jobs-consumer.js';

/** Takes the jobs that other services put directly into the queue. */
@Module({ imports: [LanesModule], providers: [AgentJobsConsumer] })
export class ConsumersModule {
  constructor(@Inject(Registry) registry: Registry, @Inject(WorkerConnections) { agentJobs }: WorkerConnections) {
    const help = 'Jobs of other services that no worker has taken from the queue.';
    observeGauge(registry, 'tollgate_agent_jobs_waiting', help, () => agentJobs.getWaitingCount());
  }
}
