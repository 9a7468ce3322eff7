import { Counter, Histogram, type Registry } from 'prom-client';

import type { DeliveryOutcome } from '../messages/queue-jobs.js';

/** Counts an attempt to deliver; the duration only of events that were posted. */
export type CountDelivery = (outcome: DeliveryOutcome, durationMs: number | null) => void;

/** Counts the outcomes of deliveries in the metrics. */
export function createDeliveryCounter(registry: Registry): CountDelivery {
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
