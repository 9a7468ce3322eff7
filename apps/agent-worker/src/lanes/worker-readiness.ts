import { Inject, Injectable } from '@nestjs/common';
import { checkRedis, keepFresh, type ReadinessChecks } from '@tollgate/common';
import { Journal } from '@tollgate/journal';

import { AgentWorkerEnvironment } from '../config/agent-worker.config.js';
import { WorkerConnections } from '../connections/worker-connections.js';
import type { WorkerWallet } from '../wallets/worker-wallet.js';

/** A readiness probe asks the chain again if the last answer is older than this. */
const CHAIN_NEWS_MS = 15_000;

/** Ready: all dependencies answer, and every wallet is usable. What the operator should do otherwise is logged. */
@Injectable()
export class WorkerReadiness {
  /** The journal is open, and lanes are running. */
  isOpen = false;
  readonly checks: ReadinessChecks;
  readonly #wallets: readonly WorkerWallet[];

  constructor(
    @Inject(AgentWorkerEnvironment) { ownWallets }: AgentWorkerEnvironment,
    @Inject(WorkerConnections) private readonly connections: WorkerConnections,
    @Inject(Journal) private readonly journal: Journal,
  ) {
    this.#wallets = ownWallets;
    this.checks = {
      redis: checkRedis(connections.journalRedis),
      queues: checkRedis(connections.queueRedis),
      chain: keepFresh(CHAIN_NEWS_MS, () => this.#checkChain()),
      journal: async () => {
        if (!this.isOpen) throw new Error('the journal is not open yet');
      },
      wallets: () => this.#assertUsable(),
    };
  }

  async #checkChain(): Promise<void> {
    const address = this.#wallets[0]?.lane.address;
    if (address !== undefined) await this.connections.chain.readHead(address);
  }

  /** A Redis that lost the nonces, or never had them, does not recover by itself. */
  async #assertUsable(): Promise<void> {
    const statuses = await Promise.all(this.#wallets.map(({ lane }) => this.journal.readLane(lane)));
    const problems = this.#wallets.flatMap(({ name }, index) => {
      const status = statuses[index];
      if (status?.nextNonce === null) return [`${name} is not adopted: run npm run wallets -- adopt ${name}`];
      if (status?.frozen !== 'chain_ahead') return [];
      return [
        `${name} has sent transactions that the journal does not know: check with npm run wallets -- list, then run ` +
          `npm run wallets -- adopt ${name}`,
      ];
    });
    if (problems.length > 0) throw new Error(problems.join('; '));
  }
}
