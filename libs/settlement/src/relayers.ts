import type { SettledPayment } from '@tollgate/book-events';
import { MovedPayments } from '@tollgate/chain';
import {
  createLaneId,
  describeTransaction,
  LaneRunner,
  LaneShare,
  nameProcess,
  pause,
  type Chain,
  type Journal,
  type LaneId,
  type LaneSettings,
  type LaneSigner,
  type ReportTransaction,
} from '@tollgate/journal';
import { nameOfPayment } from '@tollgate/ledger';
import type { Hex } from '@tollgate/protocol';

import { noteMined, type MinedParts } from './confirm.js';
import type { ContractWallets } from './contract-wallets.js';
import { paymentIdOf } from './payment-entry.js';
import { Batcher } from './reserve.js';
import { serveRelayer, type SettleServers } from './serve-relayer.js';
import { parseSettlementJob } from './settlement-job.js';
import type { Simulation } from './simulate.js';
import { SettlementPlanner, type Relayer } from './submit.js';

export interface RelayersOptions extends MinedParts {
  signers: readonly LaneSigner[];
  journal: Journal;
  chain: Chain;
  simulation: Simulation;
  wallets: ContractWallets;
  servers: SettleServers;
  settings: Partial<LaneSettings>;
  batchSize: number;
  batchWaitMs: number;
  /** Whether transactions are reported to the book. */
  isBooked: boolean;
  onTrouble: (relayer: Hex, error: unknown) => void;
}

/** The relayers of this process. This process works on each of them whenever no other process does. */
export class Relayers {
  readonly #owner = nameProcess();
  readonly #share = new LaneShare();
  readonly #leaving = new AbortController();
  readonly #serving = new Set<Promise<void>>();
  readonly #runners: readonly LaneRunner[];

  constructor(private readonly options: RelayersOptions) {
    this.#runners = options.signers.map((signer) => this.#createRunner(signer));
  }

  get lanes(): LaneId[] {
    return this.#runners.map(({ lane }) => lane);
  }

  get addresses(): Hex[] {
    return this.lanes.map(({ address }) => address);
  }

  isHolding(address: Hex): boolean {
    return this.#runners.some(({ lane, isHolding }) => lane.address === address && isHolding);
  }

  start(): void {
    for (const runner of this.#runners) runner.start();
  }

  /**
   * Stops taking questions, and waits within the time for the answers to those taken. The lanes go on meanwhile, so
   * that settlements finish.
   */
  async leave(withinMs: number): Promise<void> {
    this.#leaving.abort();
    const enough = new AbortController();
    await Promise.race([Promise.allSettled(this.#serving), pause(withinMs, enough.signal)]);
    enough.abort();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#runners.map((runner) => runner.stop()));
  }

  #createRunner(signer: LaneSigner): LaneRunner {
    const { journal, chain, simulation, wallets, servers, settings, batchSize, batchWaitMs, isBooked } = this.options;
    const lane = createLaneId(chain.chainId, signer.address);
    const planner = new SettlementPlanner(simulation, wallets, lane.address);
    const onTrouble = (error: unknown) => this.options.onTrouble(lane.address, error);
    const leaving = this.#leaving.signal;
    const runner: LaneRunner = new LaneRunner({
      journal,
      chain,
      signer,
      settings,
      planner,
      // Each payment's outcome is read from its logs by the process that waits for it.
      judgeStep: (job, step, receipt) => {
        // Not awaited: until it is done, the gas that the job holds counts as burnt.
        void noteMined(this.options, job, step, receipt).catch(onTrouble);
        return Promise.resolve({ outcome: 'done' });
      },
      report: isBooked ? reportSettlement : null,
      owner: this.#owner,
      share: this.#share,
      whileHeld: ({ signal }) => {
        const serving = serveRelayer({ journal, chain, servers, leaving }, relayer, signal);
        this.#serving.add(serving);
        return serving.finally(() => this.#serving.delete(serving));
      },
      onTrouble,
    });
    const batcher = new Batcher({ simulation, size: batchSize, waitMs: batchWaitMs });
    const relayer: Relayer = { lane, runner, planner, batcher, onTrouble };
    return runner;
  }
}

/** The report of a relayer's transaction, with what it moved of each payment. */
const reportSettlement: ReportTransaction = (job, step, receipt) => {
  const moves = new MovedPayments(receipt.logs);
  const { chainId, address: relayer } = job.lane;
  const payments = parseSettlementJob(job).map((entry): SettledPayment => {
    const { asset, payTo, payer, forOther } = entry;
    const payment = nameOfPayment(paymentIdOf(chainId, entry));
    const moved = { asset, payTo, payer, amount: moves.of(entry)?.toString() ?? null, logIndex: null };
    return { payment, ...moved, ...(forOther && { forOther }) };
  });
  return { type: 'settled', facts: { ...describeTransaction(job, step, receipt), relayer, payments } };
};
