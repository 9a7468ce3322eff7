import { Logger } from '@nestjs/common';
import { BookUnavailableError, DeposedError, type BookWriter, type ChainScope } from '@tollgate/book';
import { ChainUnavailableError } from '@tollgate/chain';
import type { PaymentChain } from '@tollgate/config';
import { pause } from '@tollgate/journal';

import type { ReconcileMetrics } from '../metrics/reconcile-metrics.js';
import type { ChainComparison, Comparison } from './chain-comparison.js';

/** How long after its start a bookkeeper may wait for the first process that sells, and for the first final block. */
const STARTING_MS = 5 * 60_000;

/** How the last comparison went. */
export interface ReconcilerState {
  /** When one was last completed; null before the first. */
  comparedAtMs: number | null;
  /** Why none was completed since; null: the last one was. */
  trouble: string | null;
}

export interface ChainReconcilerOptions {
  readonly chain: PaymentChain;
  readonly scopes: readonly ChainScope[];
  readonly comparison: ChainComparison;
  readonly intervalMs: number;
  /** Every event that was reported before is in the book, in milliseconds since 1970. */
  readonly readToEndAtMs: () => number;
  readonly metrics: ReconcileMetrics;
}

/** Compares the book with one chain again and again, whatever becomes of the others, and books what only the chain shows. */
export class ChainReconciler {
  readonly #logger = new Logger('Reconcile');
  readonly #state: ReconcilerState = { comparedAtMs: null, trouble: 'the chain has not been read yet' };
  #startedAtMs = 0;
  /** The last line about why nothing is compared; null: something was since. */
  #noted: string | null = null;

  constructor(private readonly options: ChainReconcilerOptions) {}

  get chain(): PaymentChain {
    return this.options.chain;
  }

  get scopes(): readonly ChainScope[] {
    return this.options.scopes;
  }

  get state(): Readonly<ReconcilerState> {
    return this.#state;
  }

  /** Until the signal is aborted; goes on when the chain or the database is back. @throws DeposedError */
  async run(writer: BookWriter, signal: AbortSignal): Promise<void> {
    const { comparison, readToEndAtMs, intervalMs } = this.options;
    this.#startedAtMs = nowMs();
    while (!signal.aborted) {
      try {
        this.#conclude(await comparison.run(writer, readToEndAtMs(), signal));
      } catch (error) {
        if (error instanceof DeposedError || signal.aborted) throw error;
        this.#report(error);
      }
      await pause(intervalMs, signal);
    }
  }

  #conclude(found: Comparison | null): void {
    if (found === null) {
      // Every installation starts so; later it means that sales are not booked, or that the chain stands still.
      const isStarting = this.#state.comparedAtMs === null && nowMs() - this.#startedAtMs < STARTING_MS;
      this.#note('the book is not complete yet (BOOK=on), or no block is final', isStarting ? 'log' : 'warn');
      return;
    }
    const { rewoundTo, bookings } = found;
    const { chain, metrics } = this.options;
    if (rewoundTo !== null) {
      const what = `block ${rewoundTo} of ${chain.network} and later ones were replaced`;
      this.#logger.warn(`${what}: a reorganisation of blocks that were final`);
    }
    for (const { kind, payment, facts } of bookings) {
      const line = { msg: `booked from the chain: ${kind}`, chain: chain.network, payment, facts };
      if (kind === 'correction') this.#logger.error(line);
      else this.#logger.warn(line);
    }
    metrics.compared(chain, found);
    if (this.#state.trouble !== null && this.#state.comparedAtMs !== null)
      this.#logger.log(`the chain ${chain.network} is read again`);
    Object.assign(this.#state, { comparedAtMs: Date.now(), trouble: null });
    this.#noted = null;
  }

  #report(error: unknown): void {
    this.options.metrics.failed(this.options.chain);
    const reason = error instanceof Error ? error.message : String(error);
    const isExpected = error instanceof ChainUnavailableError || error instanceof BookUnavailableError;
    if (!isExpected && this.#state.trouble !== reason) this.#logger.error({ msg: reason, err: error });
    this.#note(reason);
  }

  /** Logged once for each reason and level, however long it lasts. */
  #note(reason: string, level: 'log' | 'warn' = 'warn'): void {
    const chain = this.options.chain.network;
    const line = `the book is not compared with the chain ${chain}${level === 'log' ? ' yet' : ''}: ${reason}`;
    if (this.#noted !== line) this.#logger[level](line);
    [this.#noted, this.#state.trouble] = [line, reason];
  }
}

const nowMs = (): number => performance.now();
