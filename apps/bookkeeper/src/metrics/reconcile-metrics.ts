import { Inject, Injectable } from '@nestjs/common';
import type { Answered, ChainScope } from '@tollgate/book';
import { observeGauge } from '@tollgate/common';
import { Counter, Gauge, Registry } from 'prom-client';

/** What the last comparison of book and chain found. */
@Injectable()
export class ReconcileMetrics {
  readonly #unreconciled: Gauge<'asset'>;
  readonly #block: Gauge;
  readonly #bookings: Counter<'kind'>;
  readonly #failures: Counter;

  constructor(@Inject(Registry) private readonly registry: Registry) {
    const registers = [registry];
    this.#unreconciled = new Gauge({
      name: 'tollgate_unreconciled_base_units',
      help: 'Base units that chain and book differ by, by asset.',
      labelNames: ['asset'],
      registers,
    });
    this.#block = new Gauge({
      name: 'tollgate_reconcile_block',
      help: 'Newest block up to which book and chain were compared.',
      registers,
    });
    this.#bookings = new Counter({
      name: 'tollgate_reconcile_bookings_total',
      help: 'Bookings of what only the chain showed, by kind: payment for unclaimed money, correction, gas.',
      labelNames: ['kind'],
      registers,
    });
    this.#failures = new Counter({
      name: 'tollgate_reconcile_failures_total',
      help: 'Comparisons of book and chain that failed and are repeated.',
      registers,
    });
  }

  observeAge(comparedAtMs: () => number | null): void {
    const startedAtMs = Date.now();
    const help = 'Time since book and chain were last compared.';
    observeGauge(this.registry, 'tollgate_reconcile_age_seconds', help, () => {
      return (Date.now() - (comparedAtMs() ?? startedAtMs)) / 1000;
    });
  }

  compared({ chainId, asset }: ChainScope, found: Answered & { finalBlock: number }): void {
    const sums = new Map<string, bigint>([[`${chainId}:${asset}`, 0n]]);
    for (const one of found.differences) sums.set(one.asset, (sums.get(one.asset) ?? 0n) + BigInt(one.amount));
    this.#unreconciled.reset();
    for (const [name, amount] of sums) this.#unreconciled.set({ asset: name }, Number(amount));
    this.#block.set(found.finalBlock);
    for (const { kind } of found.bookings) this.#bookings.inc({ kind });
  }

  /** Says nothing of a book that another bookkeeper has. */
  forget(): void {
    this.#unreconciled.reset();
  }

  failed(): void {
    this.#failures.inc();
  }
}
