import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { BookUnavailableError, DeposedError, type BookWriter, type ChainScope } from '@tollgate/book';
import {
  ChainHistory,
  ChainUnavailableError,
  combineObservers,
  connectChain,
  type ConnectedChain,
} from '@tollgate/chain';
import { ProblemError } from '@tollgate/http';
import { pause } from '@tollgate/journal';

import { BookkeeperEnvironment } from '../config/bookkeeper.config.js';
import { BookkeeperConnections } from '../drain/connections.js';
import { OutboxDrain } from '../drain/outbox-drain.js';
import { listLanes } from '../drain/outbox-streams.js';
import { ReconcileMetrics } from '../metrics/reconcile-metrics.js';
import { ChainComparison, type Comparison } from './chain-comparison.js';

const RPC_TIMEOUT_MS = 30_000;
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const REQUESTS_AT_ONCE = 8;
/** How long after its start a bookkeeper may wait for the first process that sells, and for the first final block. */
const STARTING_MS = 5 * 60_000;

/** How the last comparison went. */
export interface ReconcilerState {
  /** When one was last completed; null before the first. */
  comparedAtMs: number | null;
  /** Why none was completed since; null: the last one was. */
  trouble: string | null;
}

/** Compares the book with the chain again and again, and books what only the chain shows. */
@Injectable()
export class Reconciler implements OnApplicationShutdown {
  readonly #logger = new Logger('Reconcile');
  readonly #scope: ChainScope;
  readonly #chain: ConnectedChain | null;
  #startedAtMs = 0;
  /** The last line about why nothing is compared; null: something was since. */
  #noted: string | null = null;
  readonly #state: ReconcilerState = { comparedAtMs: null, trouble: 'the chain has not been read yet' };

  constructor(
    @Inject(BookkeeperEnvironment) private readonly environment: BookkeeperEnvironment,
    @Inject(BookkeeperConnections) private readonly connections: BookkeeperConnections,
    @Inject(OutboxDrain) private readonly drain: OutboxDrain,
    @Inject(ReconcileMetrics) private readonly metrics: ReconcileMetrics,
  ) {
    const { payment, reconcile } = environment;
    const { chainId, assetAddress, payTo } = payment;
    this.#scope = { chainId, asset: assetAddress.toLowerCase(), recipient: payTo.toLowerCase() };
    this.#chain = reconcile.reconcileRpcUrl.length === 0 ? null : connect(environment);
    if (this.#chain !== null) metrics.observeAge(() => this.#state.comparedAtMs);
  }

  /** What is compared, and how that goes. @throws ProblemError 409 without an RPC server */
  get status(): { scope: ChainScope; state: Readonly<ReconcilerState> } {
    if (this.#chain !== null) return { scope: this.#scope, state: this.#state };
    const detail = 'The bookkeeper does not read the chain: set RECONCILE_RPC_URL.';
    throw new ProblemError({ status: 409, code: 'reconcile_off', detail });
  }

  /** Until the signal is aborted; goes on when the chain or the database is back. @throws DeposedError */
  async run(writer: BookWriter, signal: AbortSignal): Promise<void> {
    const chain = this.#chain;
    // Without a chain this work has no end of its own: the others decide when the book is given up.
    if (chain === null) return untilAborted(signal);
    try {
      await this.#runUntilAborted(this.#compare(chain), writer, signal);
    } finally {
      // The bookkeeper that has the book says how it is.
      this.metrics.forget();
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#chain?.close();
  }

  async #runUntilAborted(comparison: ChainComparison, writer: BookWriter, signal: AbortSignal): Promise<void> {
    this.#startedAtMs = nowMs();
    while (!signal.aborted) {
      try {
        const found = await comparison.run(writer, this.drain.readToEndAtMs, signal);
        this.#conclude(found);
      } catch (error) {
        if (error instanceof DeposedError || signal.aborted) throw error;
        this.#report(error);
      }
      await pause(this.environment.reconcile.reconcileIntervalMs, signal);
    }
  }

  #compare(chain: ConnectedChain): ChainComparison {
    const { reconcile, payment } = this.environment;
    return new ChainComparison({
      history: new ChainHistory(chain.batcher, nowMs, RPC_TIMEOUT_MS * reconcile.reconcileRpcUrl.length),
      scope: this.#scope,
      seller: { asset: payment.assetAddress, payTo: payment.payTo },
      confirmations: reconcile.reconcileConfirmations,
      rangeBlocks: reconcile.reconcileRangeBlocks,
      least: reconcile.bookLeastUnclaimed === undefined ? null : BigInt(reconcile.bookLeastUnclaimed),
      graceMs: reconcile.reconcileGraceSeconds * 1000,
      listAccounts: () => this.#listAccounts(),
    });
  }

  /** The wallets and relayers of Redis, on this chain. */
  async #listAccounts(): Promise<string[]> {
    const prefix = `${this.#scope.chainId}:`;
    const lanes = await listLanes(this.connections.commands);
    return lanes.flatMap((lane) => (lane.startsWith(prefix) ? lane.slice(prefix.length).toLowerCase() : []));
  }

  #conclude(found: Comparison | null): void {
    if (found === null) {
      // Every installation starts so; later it means that sales are not booked, or that the chain stands still.
      const isStarting = this.#state.comparedAtMs === null && nowMs() - this.#startedAtMs < STARTING_MS;
      this.#note('the book is not complete yet (BOOK=on), or no block is final', isStarting ? 'log' : 'warn');
      return;
    }
    const { rewoundTo, bookings } = found;
    if (rewoundTo !== null) {
      this.#logger.warn(`block ${rewoundTo} and later ones were replaced: a reorganisation of blocks that were final`);
    }
    for (const { kind, payment, facts } of bookings) {
      const line = { msg: `booked from the chain: ${kind}`, payment, facts };
      if (kind === 'correction') this.#logger.error(line);
      else this.#logger.warn(line);
    }
    this.metrics.compared(this.#scope, found);
    if (this.#state.trouble !== null && this.#state.comparedAtMs !== null) this.#logger.log('the chain is read again');
    Object.assign(this.#state, { comparedAtMs: Date.now(), trouble: null });
    this.#noted = null;
  }

  #report(error: unknown): void {
    this.metrics.failed();
    const reason = error instanceof Error ? error.message : String(error);
    const isExpected = error instanceof ChainUnavailableError || error instanceof BookUnavailableError;
    if (!isExpected && this.#state.trouble !== reason) this.#logger.error({ msg: reason, err: error });
    this.#note(reason);
  }

  /** Logged once for each reason and level, however long it lasts. */
  #note(reason: string, level: 'log' | 'warn' = 'warn'): void {
    const line = `the book is not compared with the chain${level === 'log' ? ' yet' : ''}: ${reason}`;
    if (this.#noted !== line) this.#logger[level](line);
    [this.#noted, this.#state.trouble] = [line, reason];
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

const nowMs = (): number => performance.now();

function connect({ payment, reconcile }: BookkeeperEnvironment): ConnectedChain {
  return connectChain({
    urls: reconcile.reconcileRpcUrl,
    chainId: payment.chainId,
    timeoutMs: RPC_TIMEOUT_MS,
    // Each question in a request of its own: answers about many blocks are long.
    batchSize: 1,
    batchesInFlight: REQUESTS_AT_ONCE,
    maxResponseBytes: MAX_ANSWER_BYTES,
    maxReceiptBytes: MAX_ANSWER_BYTES,
    logRangeBlocks: reconcile.reconcileRangeBlocks,
    observer: combineObservers(),
    nowMs,
  });
}
