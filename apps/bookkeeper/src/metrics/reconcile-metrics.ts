import { Inject, Injectable } from '@nestjs/common';
import type { Answered } from '@tollgate/book';
import { observeSamples, type Sample } from '@tollgate/common';
import type { PaymentChain } from '@tollgate/config';
import { Counter, Gauge, Registry } from 'prom-client';

import { BookkeeperEnvironment } from '../config/bookkeeper.config.js';

type AssetLabel = 'chain' | 'token' | 'asset';

/** What the last comparisons of book and chains found. `chain` is the network's name, `token` the symbol. */
@Injectable()
export class ReconcileMetrics {
  readonly #unreconciled = new Map<number, readonly Sample<AssetLabel>[]>();
  readonly #block: Gauge<'chain'>;
  readonly #bookings: Counter<'chain' | 'kind'>;
  readonly #failures: Counter<'chain'>;

  constructor(
    @Inject(Registry) private readonly registry: Registry,
    @Inject(BookkeeperEnvironment) private readonly environment: BookkeeperEnvironment,
  ) {
    const registers = [registry];
    observeSamples(
      registry,
      {
        name: 'tollgate_unreconciled_base_units',
        help: 'Base units that chain and book differ by, by chain, token and asset.',
        labelNames: ['chain', 'token', 'asset'],
      },
      () => Promise.resolve([...this.#unreconciled.values()].flat()),
    );
    this.#block = new Gauge({
      name: 'tollgate_reconcile_block',
      help: 'Newest block up to which book and chain were compared, by chain.',
      labelNames: ['chain'],
      registers,
    });
    this.#bookings = new Counter({
      name: 'tollgate_reconcile_bookings_total',
      help: 'Bookings of what only the chain showed, by chain and kind: payment for unclaimed money, correction, gas.',
      labelNames: ['chain', 'kind'],
      registers,
    });
    this.#failures = new Counter({
      name: 'tollgate_reconcile_failures_total',
      help: 'Comparisons of book and chain that failed and are repeated, by chain.',
      labelNames: ['chain'],
      registers,
    });
  }

  /** @param compared the chains, with when each was last compared; null before */
  observeAges(compared: readonly { chain: PaymentChain; comparedAtMs: () => number | null }[]): void {
    const startedAtMs = Date.now();
    const name = 'tollgate_reconcile_age_seconds';
    const help = 'Time since book and chain were last compared, by chain.';
    observeSamples(this.registry, { name, help, labelNames: ['chain'] }, async () =>
      compared.map(({ chain, comparedAtMs }) => ({
        labels: { chain: chain.network },
        value: (Date.now() - (comparedAtMs() ?? startedAtMs)) / 1000,
      })),
    );
    for (const { chain } of compared) this.#failures.inc({ chain: chain.network }, 0);
  }

  compared(chain: PaymentChain, found: Answered & { finalBlock: number }): void {
    const options = this.environment.options.filter((option) => option.chain === chain);
    const symbols = new Map([
      ...options.map(({ asset, symbol }): [string, string] => [`${chain.id}:${asset}`, symbol]),
      [`${chain.id}:native`, 'native'],
    ]);
    const sums = new Map(options.map(({ asset }) => [`${chain.id}:${asset}`, 0n]));
    for (const { asset, amount } of found.differences) sums.set(asset, (sums.get(asset) ?? 0n) + BigInt(amount));
    const samples = [...sums].map(([asset, amount]) => ({
      labels: { chain: chain.network, token: symbols.get(asset) ?? '', asset },
      value: Number(amount),
    }));
    this.#unreconciled.set(chain.id, samples);
    this.#block.set({ chain: chain.network }, found.finalBlock);
    for (const { kind } of found.bookings) this.#bookings.inc({ chain: chain.network, kind });
  }

  /** Says nothing of a book that another bookkeeper has. */
  forget(): void {
    this.#unreconciled.clear();
  }

  failed(chain: PaymentChain): void {
    this.#failures.inc({ chain: chain.network });
  }
}
