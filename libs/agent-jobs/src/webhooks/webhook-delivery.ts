import { WEBHOOKS_QUEUE, type WebhookDelivery } from '@tollgate/common';
import type { AgentJobEvent } from '@tollgate/protocol';
import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';

import { openQueue } from '../queues/queues.js';
import type { WebhookTarget } from './webhook-target.js';

/** Always the same for the same event and target, so that adding it again has no effect. BullMQ allows no colon. */
export function nameDelivery(event: Pick<AgentJobEvent, 'id'>, target: Pick<WebhookTarget, 'id'>): string {
  return `${event.id.replaceAll(':', '.')}.${target.id}`;
}

/** @param connection to the Redis of the queues, from `connectRedis`; it stays open when the queue is closed */
export function openWebhooksQueue(connection: Redis): Queue<WebhookDelivery> {
  return openQueue(WEBHOOKS_QUEUE, connection);
}
