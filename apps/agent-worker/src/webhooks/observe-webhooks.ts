import type { DeadLetters } from '@tollgate/agent-jobs';
import { observeGauge, type WebhookDelivery } from '@tollgate/common';
import type { Queue } from 'bullmq';
import { Counter, Histogram, type Registry } from 'prom-client';

import type { WebhookDelivererOptions } from './webhook-deliverer.js';

/** Counts the outcomes of deliveries; for `WebhookDelivererOptions.onOutcome`. */
export function createDeliveryCounter(registry: Registry): WebhookDelivererOptions['onOutcome'] {
  const outcomes = new Counter({
    name: 'tollgate_webhook_deliveries_total',
    help: 'Attempts to deliver an event to a webhook target, by outcome; crowded_out: too many events waited for the target.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const durations = new Histogram({
    name: 'tollgate_webhook_duration_seconds',
    help: 'Time until webhook targets answered or failed.',
    buckets: [0.01, 0.03, 0.1, 0.3, 1, 3, 10],
    registers: [registry],
  });
  return (outcome, durationMs) => {
    outcomes.inc({ outcome });
    if (durationMs !== null) durations.observe(durationMs / 1000);
  };
}

/** The waiting deliveries in the queue, the same for all workers. */
export function observeWebhooks(registry: Registry, queue: Queue<WebhookDelivery>, deadLetters: DeadLetters): void {
  observeGauge(registry, 'tollgate_webhook_dead_letters', 'Deliveries that were given up.', () => deadLetters.count());
  observeGauge(
    registry,
    'tollgate_webhook_waiting',
    'Deliveries that wait for their turn or for the next attempt.',
    () => queue.getJobCountByTypes('waiting', 'delayed', 'active'),
  );
}
