import { Counter, Histogram, type Registry } from 'prom-client';

/**
 * `dropped`: the target is disabled, or its key is revoked. `crowded_out`: too many events were kept, for it or in all.
 */
export type DeliveryOutcome = 'delivered' | 'dropped' | 'crowded_out' | 'gone' | 'failed' | 'dead';

/** Counts deliveries; the duration only of events that were posted. */
export type CountDelivery = (outcome: DeliveryOutcome, durationMs?: number) => void;

/** The names of the metrics of one subject. */
export interface WebhookMetrics {
  readonly outcomes: string;
  readonly durations: string;
  readonly waiting: string;
  readonly dead: string;
}

export function createDeliveryCounter(registry: Registry, metrics: WebhookMetrics): CountDelivery {
  const outcomes = new Counter({
    name: metrics.outcomes,
    help: 'Attempts to deliver an event to a webhook target, by outcome; crowded_out: too many events were kept.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const durations = new Histogram({
    name: metrics.durations,
    help: 'Time until webhook targets answered or failed.',
    buckets: [0.01, 0.03, 0.1, 0.3, 1, 3, 10],
    registers: [registry],
  });
  return (outcome, durationMs) => {
    outcomes.inc({ outcome });
    if (durationMs !== undefined) durations.observe(durationMs / 1000);
  };
}
