import { DeadLetters, openWebhooksQueue, WaitingDeliveries, WebhookTargets } from '@tollgate/agent-jobs';
import { ApiKeyStore, type AgentEnvironment } from '@tollgate/common';
import type { Redis } from 'ioredis';
import type { Registry } from 'prom-client';

import type { EventConsumer } from '../events/event-consumer.js';
import { createDeliveryCounter, observeWebhooks } from './observe-webhooks.js';
import { WebhookDeliverer } from './webhook-deliverer.js';
import { WebhookFanOut } from './webhook-fan-out.js';
import type { WebhookEnvironment } from './webhook.environment.js';

export interface WebhooksOptions {
  journalRedis: Redis;
  /** To the Redis of the queues; fails commands while it is down, so that events are delivered again later. */
  queueRedis: Redis;
  /** To the Redis of the queues, for blocking commands. */
  consumerRedis: Redis;
  agent: Pick<AgentEnvironment, 'agentSecret' | 'allowPrivateTargets'>;
  settings: Readonly<WebhookEnvironment>;
  registry: Registry;
  /** Replaces the system's DNS lookup in tests. */
  nameServers?: readonly string[];
}

export interface Webhooks {
  /** For the lanes' event pumps. */
  consumer: EventConsumer;
  /** Starts to post the waiting deliveries of all lanes. */
  start(): void;
  /** Call it once the lanes are released. */
  close(withinMs: number): Promise<void>;
}

/**
 * From an outbox to the targets: events go into a queue shared by all workers, and are posted until they are delivered.
 */
export function createWebhooks(options: WebhooksOptions): Webhooks {
  const { journalRedis, queueRedis, consumerRedis, agent, settings, registry, nameServers } = options;
  const targets = new WebhookTargets(journalRedis);
  const queue = openWebhooksQueue(queueRedis);
  const waiting = new WaitingDeliveries(queueRedis, queue);
  const onOutcome = createDeliveryCounter(registry);
  const deliverer = new WebhookDeliverer({
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
  return {
    consumer: new WebhookFanOut({ targets, queue, waiting, settings, onOutcome }),
    start: () => deliverer.start(),
    close: async (withinMs) => {
      await deliverer.close(withinMs);
      await queue.close().catch(() => undefined);
    },
  };
}
