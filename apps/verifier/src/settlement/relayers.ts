import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';

import {
  createLaneId,
  LaneRunner,
  LaneShare,
  pause,
  type Chain,
  type Journal,
  type LaneId,
  type LaneSettings,
  type LaneSigner,
  type PlannedJob,
} from '@tollgate/journal';
import type { Hex } from '@tollgate/protocol';

import type { SettlementMetrics } from '../metrics/settlement-metrics.js';
import type { AskersSettings } from '../settings/askers-settings.js';
import { attendRelayer, type SettleQueue } from './attend-relayer.js';
import type { BurningPayers } from './burning-payers.js';
import { concludeJob } from './conclude-job.js';
import type { ContractWallets } from './contract-wallets.js';
import type { GasMemory } from './gas-memory.js';
import type { JobWatch } from './job-watch.js';
import type { PayersMeans } from './payers-means.js';
import type { PermitSettlements } from './permit-settlements.js';
import { Relayer } from './relayer.js';
import { countPayments } from './settlement-job.js';
import { isOfContractWallet, SettlementPlanner } from './settlement-planner.js';
import type { SettlementRecords } from './settlement-records.js';
import type { Settlements } from './settlements.js';
import type { Trials } from './trials.js';

export interface RelayersOptions {
  signers: readonly LaneSigner[];
  journal: Journal;
  chain: Chain;
  records: SettlementRecords;
  jobs: JobWatch;
  trials: Trials;
  gas: GasMemory;
  means: PayersMeans;
  burning: BurningPayers;
  wallets: ContractWallets;
  settlements: Settlements;
  permits: PermitSettlements;
  settings: Partial<LaneSettings>;
  batchSize: number;
  batchWaitMs: number;
  queue: SettleQueue;
  askers: AskersSettings;
  metrics: SettlementMetrics;
  /** Returns the time of Redis's clock. */
  nowMs: () => number;
  onTrouble: (relayer: Hex, error: unknown) => void;
}

/** The relayers of this process. This process works on each of them whenever no other process does. */
export class Relayers {
  readonly #owner = `${hostname().slice(0, 64)}-${randomBytes(8).toString('hex')}`;
  readonly #share = new LaneShare();
  readonly #leaving = new AbortController();
  readonly #attending = new Set<Promise<void>>();
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
    await Promise.race([Promise.allSettled(this.#attending), pause(withinMs, enough.signal)]);
    enough.abort();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#runners.map((runner) => runner.stop()));
  }

  #createRunner(signer: LaneSigner): LaneRunner {
    const { journal, chain, trials, wallets, jobs, settings, queue, askers, settlements, permits, metrics, nowMs } =
      this.options;
    const lane = createLaneId(chain.chainId, signer.address);
    const planner = new SettlementPlanner(trials, wallets, lane.address);
    const onTrouble = (error: unknown) => this.options.onTrouble(lane.address, error);
    const wake = (jobId: string) => runner.wake(jobId);
    const launch = (job: PlannedJob) => runner.launch(job);
    const relayer = new Relayer({ ...this.options, lane, planner, launch, onTrouble });
    const leaving = this.#leaving.signal;
    const attend = attendRelayer({ journal, chain, queue, askers, leaving, onTrouble }, async (request, signal) => {
      const { payment } = request;
      const result = await (payment.kind === 'permit2'
        ? permits.settle({ ...request, payment }, { lane, wake }, signal)
        : settlements.settle(request, relayer, signal));
      metrics.answered(result);
      return result;
    });
    const runner: LaneRunner = new LaneRunner({
      journal,
      chain,
      signer,
      settings,
      planner,
      // Each payment's outcome is read from its logs by the process that waits for it.
      judgeStep: (job, step, receipt) => {
        jobs.noteMined(job.id, receipt);
        // Not awaited: until it is done, the gas that the job holds counts as burnt.
        if (isOfContractWallet(step)) void concludeJob(wallets, job, receipt).catch(onTrouble);
        metrics.mined(countPayments(job), (nowMs() - job.submittedAtMs) / 1000);
        return Promise.resolve({ outcome: 'done' });
      },
      owner: this.#owner,
      share: this.#share,
      attend: (held) => {
        const attending = attend(held).finally(() => this.#attending.delete(attending));
        this.#attending.add(attending);
        return attending;
      },
      onTrouble,
    });
    return runner;
  }
}
