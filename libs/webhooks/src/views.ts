import { z } from 'zod';

import type { FailedDelivery } from './webhook-deliveries.js';
import { DISABLED_REASONS, type WebhookEvent, type WebhookTarget } from './webhook-targets.js';

/** A target as its owner sees it. */
export const targetView = z.object({
  id: z.string(),
  keyId: z.string(),
  url: z.string().meta({ format: 'uri' }),
  events: z.array(z.string()).readonly().describe('empty: all'),
  createdAt: z.string().meta({ format: 'date-time' }),
  disabled: z.enum(DISABLED_REASONS).nullable().describe('why it receives no events; null: it does'),
});

export const letterView = z.object({
  webhookId: z.string(),
  attempts: z.int(),
  failedAt: z.string().meta({ format: 'date-time' }),
  reason: z.string(),
  event: z.custom<WebhookEvent>().meta({ type: 'object' }),
});

export function describeTarget({ id, keyId, url, events, createdAtMs, disabled }: WebhookTarget) {
  return { id, keyId, url, events, createdAt: new Date(createdAtMs).toISOString(), disabled };
}

export function describeLetter({ target, attempts, failedAtMs, reason, event }: FailedDelivery) {
  return { webhookId: target.id, attempts, failedAt: new Date(failedAtMs).toISOString(), reason, event };
}
