import type { AgentJobEvent } from '@tollgate/protocol';
import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';

import { AGENT_QUEUE_PREFIX, WEBHOOKS_QUEUE } from './queues.js';
import type { WebhookTarget } from './webhook-target.js';

/** One event for one target, as it waits in the queue: neither the target's address nor its secret. */
export interface WebhookDelivery {
  keyId: string;
  targetId: string;
  event: AgentJobEvent;
}

/** The same for the same event and target, so that adding it again does nothing. BullMQ takes no colon. */
export function nameDelivery(event: Pick<AgentJobEvent, 'id'>, target: Pick<WebhookTarget, 'id'>): string {
  return `${event.id.replaceAll(':', '.')}.${target.id}`;
}

/** @param connection of the queues' Redis, from `connectRedis`; it stays open when the queue is closed */
export function openWebhooksQueue(connection: Redis): Queue<WebhookDelivery> {
  const queue = new Queue<WebhookDelivery>(WEBHOOKS_QUEUE, {
    connection,
    prefix: AGENT_QUEUE_PREFIX,
    skipWaitingForReady: true,
  });
  // Without a listener an `error` event ends the process; the connection reports its own state.
  queue.on('error', () => undefined);
  return queue;
}
