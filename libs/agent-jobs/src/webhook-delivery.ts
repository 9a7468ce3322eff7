import type { AgentJobEvent } from '@tollgate/protocol';
import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';

import { AGENT_QUEUE_PREFIX, WEBHOOKS_QUEUE } from './queues.js';
import type { WebhookTarget } from './webhook-target.js';

/** One event for one target, as stored in the queue, without the target's address and secret. */
export interface WebhookDelivery {
  keyId: string;
  targetId: string;
  event: AgentJobEvent;
}

/** Always the same for the same event and target, so that adding it again has no effect. BullMQ allows no colon. */
export function nameDelivery(event: Pick<AgentJobEvent, 'id'>, target: Pick<WebhookTarget, 'id'>): string {
  return `${event.id.replaceAll(':', '.')}.${target.id}`;
}

/** @param connection to the Redis of the queues, from `connectRedis`; it stays open when the queue is closed */
export function openWebhooksQueue(connection: Redis): Queue<WebhookDelivery> {
  const queue = new Queue<WebhookDelivery>(WEBHOOKS_QUEUE, {
    connection,
    prefix: AGENT_QUEUE_PREFIX,
    skipWaitingForReady: true,
  });
  // Without a listener an `error` event ends the process. The connection reports its own state.
  queue.on('error', () => undefined);
  return queue;
}
