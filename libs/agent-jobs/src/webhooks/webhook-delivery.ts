import { WEBHOOKS_QUEUE, type WebhookDelivery } from '@tollgate/common';
import type { AgentJobEvent } from '@tollgate/protocol';
import type { RedisClient } from '@tollgate/redis';
import type { Queue } from 'bullmq';

import { openQueue } from '../queues/queues.js';
import type { WebhookTarget } from './webhook-target.js';

/** Always the same for the same event and target, so that adding it again has no effect. BullMQ allows no colon. */
export function nameDelivery(event: Pick<AgentJobEvent, 'id'>, target: Pick<WebhookTarget, 'id'>): string {
  return `${event.id.replaceAll(':', '.')}.${target.id}`;
}

/** @param connection to the Redis of the queues, from `connectRedis`; it stays open when the queue is closed */
export function openWebhooksQueue(connection: RedisClient): Queue<WebhookDelivery> {
  return openQueue(WEBHOOKS_QUEUE, connection);
}
