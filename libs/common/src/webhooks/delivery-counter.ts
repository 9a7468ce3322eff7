import { Counter, Histogram, type Registry } from 'prom-client';

import type { DeliveryOutcome } from '../messages/queue-jobs.js';

/** Counts an attempt to deliver; the duration only of events that were posted. */
export type CountDelivery = (outcome: DeliveryOutcome, durationMs: number | null) => void;

/** Counts the outcomes of deliveries in these metrics. */
export function createDeliveryCounter(registry: Registry, outcomesName: string, durationsName: string): CountDelivery {
  const outcomes = new Counter({
    name: outcomesName,
    help: 'Attempts to deliver an event to a webhook target, by outcome; crowded_out: too many events waited for the target.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const durations = new Histogram({
    name: durationsName,
    help: 'Time until webhook targets answered or failed.',
    buckets: [0.01, 0.03, 0.1, 0.3, 1, 3, 10],
    registers: [registry],
  });
  return (outcome, durationMs) => {
    outcomes.inc({ outcome });
    if (durationMs !== null) durations.observe(durationMs / 1000);
  };
}
