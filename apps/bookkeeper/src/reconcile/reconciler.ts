import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { BookWriter, ChainScope } from '@tollgate/book';
import { ChainHistory, combineObservers, connectChain, type ConnectedChain } from '@tollgate/chain';
import type { PaymentChain } from '@tollgate/config';
import { ProblemError } from '@tollgate/http';

import { runOfEach } from '../chain/run-of-each.js';
import { BookkeeperEnvironment } from '../config/bookkeeper.config.js';
import { BookkeeperConnections } from '../drain/connections.js';
import { OutboxDrain } from '../drain/outbox-drain.js';
import { listLanes } from '../drain/outbox-streams.js';
import { ReconcileMetrics } from '../metrics/reconcile-metrics.js';
import { ChainComparison } from './chain-comparison.js';
import { ChainReconciler, type ReconcilerState } from './chain-reconciler.js';

const RPC_TIMEOUT_MS = 30_000;
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const REQUESTS_AT_ONCE = 8;

/** Compares the book with the chains that it has RPC servers of, each by itself. */
@Injectable()
export class Reconciler implements OnApplicationShutdown {
  readonly #connected: ConnectedChain[] = [];
  readonly #chains: readonly ChainReconciler[];

  constructor(
    @Inject(BookkeeperEnvironment) private readonly environment: BookkeeperEnvironment,
    @Inject(BookkeeperConnections) private readonly connections: BookkeeperConnections,
    @Inject(OutboxDrain) private readonly drain: OutboxDrain,
    @Inject(ReconcileMetrics) private readonly metrics: ReconcileMetrics,
  ) {
    const compared = environment.chains.filter(({ reconcileRpc }) => reconcileRpc.length > 0);
    this.#chains = compared.map((chain) => this.#reconcile(chain));
    if (this.#chains.length === 0) return;
    metrics.observeAges(this.#chains.map(({ chain, state }) => ({ chain, comparedAtMs: () => state.comparedAtMs })));
  }

  /** What is compared, and how that goes. @throws ProblemError 409 without an RPC server */
  get status(): readonly { scope: ChainScope; state: Readonly<ReconcilerState> }[] {
    if (this.#chains.length > 0)
      return this.#chains.flatMap(({ scopes, state }) => scopes.map((scope) => ({ scope, state })));
    const detail = 'The bookkeeper does not read the chain: set RECONCILE_RPC_URL.';
    throw new ProblemError({ status: 409, code: 'reconcile_off', detail });
  }

  /** Until the signal is aborted; goes on when a chain or the database is back. @throws DeposedError */
  async run(writer: BookWriter, signal: AbortSignal): Promise<void> {
    // Without a chain this work has no end of its own: the others decide when the book is given up.
    if (this.#chains.length === 0) return untilAborted(signal);
    try {
      await runOfEach(this.#chains, (chain, ending) => chain.run(writer, ending), signal);
    } finally {
      // The bookkeeper that has the book says how it is.
      this.metrics.forget();
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.#connected.map((chain) => chain.close()));
  }

  #reconcile(chain: PaymentChain): ChainReconciler {
    const { environment, drain, metrics } = this;
    const { reconcile, scopes: seller } = environment;
    const connected = connect(environment, chain);
    this.#connected.push(connected);
    const scopes = seller.filter(({ chainId }) => chainId === chain.id);
    const comparison = new ChainComparison({
      history: new ChainHistory(connected.batcher, nowMs, RPC_TIMEOUT_MS * chain.reconcileRpc.length),
      chainId: chain.id,
      scopes,
      seller,
      confirmations: environment.finalAfter(chain),
      rangeBlocks: reconcile.reconcileRangeBlocks,
      least: reconcile.bookLeastUnclaimed === undefined ? null : BigInt(reconcile.bookLeastUnclaimed),
      graceMs: reconcile.reconcileGraceSeconds * 1000,
      listAccounts: () => this.#listAccounts(chain.id),
    });
    const { reconcileIntervalMs: intervalMs } = reconcile;
    return new ChainReconciler({
      ...{ chain, scopes, comparison, intervalMs, metrics },
      readToEndAtMs: () => drain.readToEndAtMs,
    });
  }

  /** The wallets and relayers of Redis, on a chain. */
  async #listAccounts(chainId: number): Promise<string[]> {
    const prefix = `${chainId}:`;
    const lanes = await listLanes(this.connections.commands);
    return lanes.flatMap((lane) => (lane.startsWith(prefix) ? lane.slice(prefix.length).toLowerCase() : []));
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

const nowMs = (): number => performance.now();

function connect({ reconcile }: BookkeeperEnvironment, { id: chainId, reconcileRpc: urls }: PaymentChain) {
  return connectChain({
    urls,
    chainId,
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
