import type { DeadLetters } from '@tollgate/agent-jobs';
import { observeGauge, type WebhookDelivery } from '@tollgate/common';
import type { Queue } from 'bullmq';
import type { Registry } from 'prom-client';

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
