import { observeGauge } from '@tollgate/common';
import { Counter, Histogram, type Registry } from 'prom-client';

import type { PaywallCounters } from '../paywall/paywall-counters.js';

const SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Publishes the paywall's counters as metrics; they are read on each scrape. */
export function publishPaywall(registry: Registry, counters: PaywallCounters): void {
  const challenges: Counter<'reason'> = new Counter({
    name: 'tollgate_challenges_total',
    help: '402 responses, by reason: unpaid, the code of the refusal, or sign_in_refused.',
    labelNames: ['reason'],
    registers: [registry],
    collect() {
      this.reset();
      this.inc({ reason: 'unpaid' }, counters.unpaid);
      for (const [reason, count] of counters.refusals) this.inc({ reason }, count);
    },
  });
  const answers: Counter<'origin'> = new Counter({
    name: 'tollgate_answers_total',
    help: 'Responses of resources, by what happened to the payment: paid, replayed, reproduced, released or revisited.',
    labelNames: ['origin'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [origin, count] of Object.entries(counters.answers)) this.inc({ origin }, count);
    },
  });
  const problems: Counter<'code'> = new Counter({
    name: 'tollgate_problems_total',
    help: 'Payments that were answered with a problem, by its code.',
    labelNames: ['code'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [code, count] of counters.problems) this.inc({ code }, count);
    },
  });
  void [challenges, answers, problems];
  observeGauge(
    registry,
    'tollgate_purchases_in_flight',
    'Payments being verified or answered.',
    () => counters.inFlight,
  );
  const seconds = new Histogram({
    name: 'tollgate_purchase_seconds',
    help: 'Seconds from a presented payment to its response, by outcome.',
    labelNames: ['outcome'],
    buckets: SECONDS,
    registers: [registry],
  });
  counters.observeSeconds = (value, outcome) => seconds.observe({ outcome }, value);
}
