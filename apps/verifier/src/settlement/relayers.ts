import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';

import type { Hex } from '@tollgate/protocol';
import {
  createLaneId,
  LaneRunner,
  LaneShare,
  type Chain,
  type Journal,
  type LaneSettings,
  type LaneSigner,
} from '@tollgate/transactions';

import { attendRelayer, type SettleQueue } from './attend-relayer.js';
import type { GasMemory } from './gas-memory.js';
import type { JobWatch } from './job-watch.js';
import type { PermitSettlements } from './permit-settlements.js';
import { Relayer } from './relayer.js';
import { SettlementPlanner } from './settlement-planner.js';
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
  settlements: Settlements;
  permits: PermitSettlements;
  settings: Partial<LaneSettings>;
  batchSize: number;
  batchWaitMs: number;
  queue: SettleQueue;
  /** Redis's clock. */
  nowMs: () => number;
  onTrouble: (relayer: Hex, error: unknown) => void;
}

/** The relayers of this process; each is worked on whenever no other process does. */
export class Relayers {
  readonly #owner = `${hostname().slice(0, 64)}-${randomBytes(8).toString('hex')}`;
  readonly #share = new LaneShare();
  readonly #runners: readonly LaneRunner[];

  constructor(private readonly options: RelayersOptions) {
    this.#runners = options.signers.map((signer) => this.#createRunner(signer));
  }

  get addresses(): Hex[] {
    return this.#runners.map(({ lane }) => lane.address);
  }

  isHolding(address: Hex): boolean {
    return this.#runners.some(({ lane, isHolding }) => lane.address === address && isHolding);
  }

  start(): void {
    for (const runner of this.#runners) runner.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#runners.map((runner) => runner.stop()));
  }

  #createRunner(signer: LaneSigner): LaneRunner {
    const { journal, chain, trials, jobs, settings, queue, settlements, permits } = this.options;
    const lane = createLaneId(chain.chainId, signer.address);
    const planner = new SettlementPlanner(trials, lane.address);
    const onTrouble = (error: unknown) => this.options.onTrouble(lane.address, error);
    const wake = (jobId: string) => runner.wake(jobId);
    const relayer = new Relayer({ ...this.options, lane, planner, wake, onTrouble });
    const runner: LaneRunner = new LaneRunner({
      journal,
      chain,
      signer,
      settings,
      planner,
      // What each payment came to is read from its own logs, whoever waits for it.
      judgeStep: (job, _, receipt) => {
        jobs.noteMined(job.id, receipt);
        return Promise.resolve({ outcome: 'done' });
      },
      owner: this.#owner,
      share: this.#share,
      attend: attendRelayer({ journal, chain, queue, onTrouble }, (request, signal) => {
        const { payment } = request;
        return payment.kind === 'permit2'
          ? permits.settle({ ...request, payment }, { lane, wake }, signal)
          : settlements.settle(request, relayer, signal);
      }),
      onTrouble,
    });
    return runner;
  }
}
