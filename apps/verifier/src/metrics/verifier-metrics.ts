import { Inject, Injectable } from '@nestjs/common';
import type { ChainObserver, EndedBatch } from '@tollgate/chain';
import type { PaymentOption } from '@tollgate/config';
import type { SettlementResult, SignedPaymentVerdict, VerifyPaymentVerdict } from '@tollgate/transport';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const SETTLEMENT_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
const PAYMENTS = [1, 2, 5, 10, 20, 50, 100, 200];

/** Metrics of the verifier. Labels hold hosts, codes and configured options only: an RPC URL may carry an API key. */
@Injectable()
export class VerifierMetrics implements ChainObserver {
  /** `payment` is the kind of payment that was shown. */
  readonly verifications: Counter<'option' | 'outcome' | 'failure' | 'payment'>;
  readonly verificationSeconds: Histogram<'option' | 'payment'>;
  readonly #batches: Counter<'host' | 'trouble'>;
  readonly #batchLookups: Histogram;
  readonly #batchSeconds: Histogram<'host'>;
  readonly #lookupsQueued: Gauge;
  readonly #batchesInFlight: Gauge;

  constructor(@Inject(Registry) registry: Registry) {
    const registers = [registry];
    this.verifications = new Counter({
      name: 'tollgate_verifications_total',
      help:
        'Verdicts by option, outcome and kind of payment (a transaction, or a signed payment); failure is the code of a ' +
        'refusal or the reason of an unavailability.',
      labelNames: ['option', 'outcome', 'failure', 'payment'],
      registers,
    });
    this.verificationSeconds = new Histogram({
      name: 'tollgate_verification_seconds',
      help: 'From taking a question to its verdict, including waits for the receipt.',
      labelNames: ['option', 'payment'],
      buckets: SECONDS,
      registers,
    });
    this.#batches = new Counter({
      name: 'tollgate_rpc_batches_total',
      help: 'JSON-RPC batches by server and trouble (none: it was answered).',
      labelNames: ['host', 'trouble'],
      registers,
    });
    this.#batchLookups = new Histogram({
      name: 'tollgate_rpc_batch_lookups',
      help: 'Look-ups in one batch.',
      buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000],
      registers,
    });
    this.#batchSeconds = new Histogram({
      name: 'tollgate_rpc_batch_seconds',
      help: 'From sending a batch to its answer or failure.',
      labelNames: ['host'],
      buckets: SECONDS,
      registers,
    });
    this.#lookupsQueued = new Gauge({
      name: 'tollgate_rpc_lookups_queued',
      help: 'Look-ups that wait for a free batch.',
      registers,
    });
    this.#batchesInFlight = new Gauge({
      name: 'tollgate_rpc_batches_in_flight',
      help: 'Batches in flight.',
      registers,
    });
  }

  batchEnded({ host, lookups, seconds, trouble }: EndedBatch): void {
    this.#batches.inc({ host, trouble });
    this.#batchLookups.observe(lookups);
    this.#batchSeconds.observe({ host }, seconds);
  }

  queueChanged(lookupsQueued: number, batchesInFlight: number): void {
    this.#lookupsQueued.set(lookupsQueued);
    this.#batchesInFlight.set(batchesInFlight);
  }
}

/** Counters and histograms of the relayers. Labels hold codes and configured options only. */
@Injectable()
export class SettlementMetrics {
  readonly answers: Counter<'option' | 'outcome' | 'failure'>;
  readonly minedSeconds: Histogram;
  readonly batchPayments: Histogram;

  constructor(@Inject(Registry) registry: Registry) {
    const registers = [registry];
    this.answers = new Counter({
      name: 'tollgate_settlements_total',
      help: 'Answers to settlement requests; failure is the failure code, or the reason of an unavailability.',
      labelNames: ['option', 'outcome', 'failure'],
      registers,
    });
    this.minedSeconds = new Histogram({
      name: 'tollgate_settlement_mined_seconds',
      help: 'From recording a settlement to its transaction having CONFIRMATIONS blocks.',
      buckets: SETTLEMENT_SECONDS,
      registers,
    });
    this.batchPayments = new Histogram({
      name: 'tollgate_settlement_batch_payments',
      help: 'Payments settled in one transaction.',
      buckets: PAYMENTS,
      registers,
    });
  }
}

/** The label of what was refused or failed, or why it is unavailable. */
export function codeOf(answer: VerifyPaymentVerdict | SignedPaymentVerdict | SettlementResult): string {
  if (answer.outcome === 'refused' || answer.outcome === 'failed') return answer.failure;
  return answer.outcome === 'unavailable' ? answer.reason : '';
}

/** The label of an option, which all its recipients share; empty for a question that is about none of this process. */
export function optionLabelOf(option: PaymentOption | null): string {
  return option?.entry ?? '';
}
