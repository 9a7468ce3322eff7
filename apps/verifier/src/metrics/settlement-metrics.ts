import { Inject, Injectable } from '@nestjs/common';
import type { SettlementResult } from '@tollgate/common';
import { Counter, Histogram, Registry } from 'prom-client';

const SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
const PAYMENTS = [1, 2, 5, 10, 20, 50, 100, 200];

/** Counters and histograms of the relayers. Labels hold codes only. */
@Injectable()
export class SettlementMetrics {
  readonly #answers: Counter<'outcome' | 'failure'>;
  readonly #minedSeconds: Histogram;
  readonly #batchPayments: Histogram;

  constructor(@Inject(Registry) registry: Registry) {
    const registers = [registry];
    this.#answers = new Counter({
      name: 'tollgate_settlements_total',
      help: 'Answers to settlement requests; failure is the failure code, or the reason of an unavailability.',
      labelNames: ['outcome', 'failure'],
      registers,
    });
    this.#minedSeconds = new Histogram({
      name: 'tollgate_settlement_mined_seconds',
      help: 'From recording a settlement to its transaction having CONFIRMATIONS blocks.',
      buckets: SECONDS,
      registers,
    });
    this.#batchPayments = new Histogram({
      name: 'tollgate_settlement_batch_payments',
      help: 'Payments settled in one transaction.',
      buckets: PAYMENTS,
      registers,
    });
  }

  answered(result: SettlementResult): void {
    this.#answers.inc({ outcome: result.outcome, failure: codeOf(result) });
  }

  mined(payments: number, seconds: number): void {
    this.#batchPayments.observe(payments);
    this.#minedSeconds.observe(Math.max(0, seconds));
  }
}

function codeOf(result: SettlementResult): string {
  if (result.outcome === 'failed') return result.failure;
  return result.outcome === 'unavailable' ? result.reason : '';
}
