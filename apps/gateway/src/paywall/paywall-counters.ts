import { Injectable } from '@nestjs/common';
import { observeCounts, observeGauge } from '@tollgate/common';
import type { PaymentFailure } from '@tollgate/protocol';
import { Histogram, type Registry } from 'prom-client';

import type { AnswerOrigin, ProblemAnswer, ResourceAnswer } from './answer/answer.js';

/** Counts since the start, as plain numbers: the unpaid 402 is too frequent for metric objects. /metrics reads them. */
@Injectable()
export class PaywallCounters {
  unpaid = 0;
  readonly refusals = new Map<PaymentFailure | 'sign_in_refused', number>();
  readonly answers: Record<AnswerOrigin, number> = { paid: 0, replayed: 0, reproduced: 0, released: 0, revisited: 0 };
  /** Problem responses (problem+json), by code. */
  readonly problems = new Map<string, number>();

  /** Called with the duration of each paid request; set by the metrics publisher. */
  observeSeconds: (seconds: number, outcome: string) => void = () => undefined;
  #inFlight = 0;
  #onDrained: (() => void)[] = [];

  /** Requests with a payment in progress, including those whose client has disconnected. */
  get inFlight(): number {
    return this.#inFlight;
  }

  enter(): void {
    this.#inFlight += 1;
  }

  leave(): void {
    this.#inFlight -= 1;
    if (this.#inFlight === 0) for (const resolve of this.#onDrained.splice(0)) resolve();
  }

  /** Resolves when no paid request is in flight. */
  async drained(): Promise<void> {
    if (this.#inFlight > 0) await new Promise<void>((resolve) => this.#onDrained.push(resolve));
  }

  countRefusal(failure: PaymentFailure | 'sign_in_refused'): void {
    this.refusals.set(failure, (this.refusals.get(failure) ?? 0) + 1);
  }

  countAnswer(answer: ResourceAnswer | ProblemAnswer): void {
    if (answer.kind === 'resource') {
      this.answers[answer.origin] += 1;
      return;
    }
    const { code } = answer.problem;
    this.problems.set(code, (this.problems.get(code) ?? 0) + 1);
    if (answer.released) this.answers.released += 1;
  }
}

const SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Publishes the paywall's counters as metrics; they are read on each scrape. */
export function publishPaywall(registry: Registry, counters: PaywallCounters): void {
  observeCounts(
    registry,
    'tollgate_challenges',
    '402 responses, by reason: unpaid, the code of the refusal, or sign_in_refused.',
    () => ({ unpaid: counters.unpaid, ...Object.fromEntries(counters.refusals) }),
    ['reason'],
  );
  observeCounts(
    registry,
    'tollgate_answers',
    'Responses of resources, by what happened to the payment: paid, replayed, reproduced, released or revisited.',
    () => counters.answers,
    ['origin'],
  );
  observeCounts(
    registry,
    'tollgate_problems',
    'Payments that were answered with a problem, by its code.',
    () => Object.fromEntries(counters.problems),
    ['code'],
  );
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
