import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { WalletDirectory } from '@tollgate/agent-jobs';
import { Journal, LaneRunner, LaneShare, nameProcess, pause, reportJobTransaction } from '@tollgate/journal';

import { AgentWorkerEnvironment } from '../config/agent-worker.config.js';
import { LaneTroubles } from '../connections/lane-troubles.js';
import { WorkerConnections } from '../connections/worker-connections.js';
import { EventPumps } from '../events/event-pumps.js';
import { JobMetrics } from '../metrics/job-metrics.js';
import { Plannings, type JobPlanning } from '../planning/plannings.js';
import type { WorkerWallet } from '../wallets/worker-wallet.js';
import { runLaneTasks, takeWakeUps, type LaneTask } from './lane-tasks.js';

/** The lanes of this process's wallets. Each runs here whenever no other process holds it. */
@Injectable()
export class LaneFleet implements OnModuleDestroy {
  readonly #owner = nameProcess();
  readonly #share = new LaneShare();
  readonly #runners = new Map<string, LaneRunner>();

  constructor(
    @Inject(AgentWorkerEnvironment) private readonly environment: AgentWorkerEnvironment,
    @Inject(WorkerConnections) private readonly connections: WorkerConnections,
    @Inject(Journal) private readonly journal: Journal,
    @Inject(WalletDirectory) private readonly directory: WalletDirectory,
    @Inject(LaneTroubles) private readonly troubles: LaneTroubles,
    @Inject(Plannings) private readonly plannings: Plannings,
    @Inject(EventPumps) private readonly pumps: EventPumps,
    @Inject(JobMetrics) private readonly metrics: JobMetrics,
  ) {}

  start(): void {
    for (const { wallet, planning } of this.plannings.all) {
      const runner = this.#createRunner(wallet, planning);
      this.#runners.set(wallet.name, runner);
      runner.start();
    }
  }

  isHolding(walletName: string): boolean {
    return this.#runners.get(walletName)?.isHolding ?? false;
  }

  /** Starts nothing new, lets running work finish, and releases every lane. */
  async onModuleDestroy(): Promise<void> {
    await Promise.all([...this.#runners.values()].map((runner) => runner.stop()));
  }

  #createRunner({ name, signer }: WorkerWallet, planning: JobPlanning): LaneRunner {
    const { lanes, redis, settlingStopMs } = this.environment;
    const runner: LaneRunner = new LaneRunner({
      journal: this.journal,
      chain: this.connections.chain,
      signer,
      planner: planning,
      settings: lanes.laneSettings(settlingStopMs),
      judgeStep: (...asked) => planning.judgeStep(...asked),
      report: redis.book === 'on' ? reportJobTransaction : null,
      fills: lanes.nonceFillsPerHour === 0 ? null : { wallet: name, mostPerHour: lanes.nonceFillsPerHour },
      owner: this.#owner,
      share: this.#share,
      whileHeld: runLaneTasks([
        takeWakeUps({
          connection: this.connections.consumerRedis,
          wake: (jobId) => {
            this.metrics.wokenUp(name);
            runner.wake(jobId);
          },
        }),
        (held) => this.pumps.run(held, name),
        publishFacts(this.directory, name, planning),
      ]),
      onTrouble: (error) => this.troubles.report(name, error),
    });
    return runner;
  }
}

const RETRY_MS = 2000;

/**
 * Publishes which tokens a wallet's jobs may refer to, for gateways, and the limits of its policy, for operators: as
 * known to the worker that runs its lane.
 */
function publishFacts(directory: WalletDirectory, walletName: string, planning: JobPlanning): LaneTask {
  return async ({ signal }) => {
    while (!signal.aborted) {
      try {
        await directory.publishTokens(walletName, await planning.readTokens());
        return await directory.publishLimits(walletName, await planning.readLimits());
      } catch {
        // Chain or Redis is down, which planning reports; until then only the worker finds unknown tokens.
        await pause(RETRY_MS, signal);
      }
    }
  };
}
