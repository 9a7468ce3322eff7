import { DeadLetters, openWebhooksQueue, WaitingDeliveries, WebhookTargets } from '@tollgate/agent-jobs';
import {
  ApiKeyStore,
  createDeliveryCounter,
  observeGauge,
  type AgentEnvironment,
  type WebhookDelivery,
  type WebhookEnvironment,
} from '@tollgate/common';
import type { RedisClient } from '@tollgate/redis';
import type { Queue } from 'bullmq';
import type { Registry } from 'prom-client';

import { WebhookDeliverer } from './webhook-deliverer.js';
import { WebhookFanOut } from './webhook-fan-out.js';

export interface WebhooksOptions {
  journalRedis: RedisClient;
  /** To the Redis of the queues; fails commands while it is down, so that events are delivered again later. */
  queueRedis: RedisClient;
  /** To the Redis of the queues, for blocking commands. */
  consumerRedis: RedisClient;
  agent: Pick<AgentEnvironment, 'agentSecret' | 'allowPrivateTargets'>;
  settings: Readonly<WebhookEnvironment>;
  registry: Registry;
  /** Replaces the system's DNS lookup in tests. */
  nameServers?: readonly string[];
}

/** From an outbox to the targets: events go into a queue shared by all workers, and are posted until they are delivered. */
export class Webhooks {
  /** For the lanes' event pumps. */
  readonly consumer: WebhookFanOut;
  readonly #deliverer: WebhookDeliverer;
  readonly #queue: Queue<WebhookDelivery>;

  constructor(options: WebhooksOptions) {
    const { journalRedis, queueRedis, consumerRedis, agent, settings, registry, nameServers } = options;
    const targets = new WebhookTargets(journalRedis);
    const queue = openWebhooksQueue(queueRedis);
    const waiting = new WaitingDeliveries(queueRedis, queue);
    const onOutcome = createDeliveryCounter(
      registry,
      'tollgate_webhook_deliveries_total',
      'tollgate_webhook_duration_seconds',
    );
    this.#queue = queue;
    this.consumer = new WebhookFanOut({ targets, queue, waiting, settings, onOutcome });
    this.#deliverer = new WebhookDeliverer({
      connection: consumerRedis,
      targets,
      waiting,
      apiKeys: new ApiKeyStore(journalRedis),
      agentSecret: agent.agentSecret,
      rules: { allowPrivateTargets: agent.allowPrivateTargets, ...(nameServers && { nameServers }) },
      settings,
      onOutcome,
    });
    observeWebhooks(registry, queue, new DeadLetters(queue));
  }

  /** Starts to post the waiting deliveries of all lanes. */
  start(): void {
    this.#deliverer.start();
  }

  /** Call it once the lanes are released. */
  async close(withinMs: number): Promise<void> {
    await this.#deliverer.close(withinMs);
    await this.#queue.close().catch(() => undefined);
  }
}

/** The waiting deliveries in the queue, the same for all workers. */
function observeWebhooks(registry: Registry, queue: Queue<WebhookDelivery>, deadLetters: DeadLetters): void {
  observeGauge(registry, 'tollgate_webhook_dead_letters', 'Deliveries that were given up.', () => deadLetters.count());
  observeGauge(
    registry,
    'tollgate_webhook_waiting',
    'Deliveries that wait for their turn or for the next attempt.',
    () => queue.getJobCountByTypes('waiting', 'delayed', 'active'),
  );
}
