import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { toAgentJobEvent } from '@tollgate/agent-jobs';
import type { JobEvent } from '@tollgate/journal';
import { closeWithin } from '@tollgate/redis';
import { deriveWebhookSecret, Webhooks } from '@tollgate/webhooks';
import { Registry } from 'prom-client';

import { AgentWorkerEnvironment } from '../config/agent-worker.config.js';
import { WorkerConnections } from '../connections/worker-connections.js';
import type { EventConsumer } from './event-pumps.js';

const METRICS = {
  outcomes: 'tollgate_webhook_deliveries_total',
  durations: 'tollgate_webhook_duration_seconds',
  waiting: 'tollgate_webhook_waiting',
  dead: 'tollgate_webhook_dead_letters',
};
/** The share of the stop's time for running posts; the rest is for giving back those that are broken off. */
const POSTING_SHARE = 0.6;

/** Takes the events of the held lanes for webhook targets; any worker posts them. */
@Injectable()
export class JobWebhooks implements EventConsumer, OnModuleDestroy {
  readonly name = 'webhooks';
  readonly #webhooks: Webhooks;
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(
    @Inject(WorkerConnections) { journalRedis: redis }: WorkerConnections,
    @Inject(AgentWorkerEnvironment) private readonly environment: AgentWorkerEnvironment,
    @Inject(Registry) registry: Registry,
  ) {
    const { agent, webhooks: settings } = environment;
    const rules = { allowPrivateTargets: agent.allowPrivateTargets };
    const secretOf = (targetId: string) => deriveWebhookSecret(agent.agentSecret, targetId);
    this.#webhooks = new Webhooks({ redis, subject: 'jobs', secretOf, rules, settings, registry, metrics: METRICS });
  }

  take(events: readonly JobEvent[], wallet: string): Promise<void> {
    return this.#webhooks.take(
      events.map((event) => ({ keyId: event.keyId, order: event.atMs, event: toAgentJobEvent(event, wallet) })),
    );
  }

  start(): void {
    this.#running = this.#webhooks.run(this.#stopping.signal, this.environment.smallStopMs * POSTING_SHARE);
  }

  /** The lanes are released by now; another worker posts their last events. */
  async onModuleDestroy(): Promise<void> {
    this.#stopping.abort();
    await closeWithin(this.environment.smallStopMs, { close: () => this.#running });
    await this.#webhooks.close();
  }
}
