import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Journal } from '@tollgate/journal';

import { AgentWorkerEnvironment } from '../config/agent-worker.config.js';
import type { WorkerWallet } from '../wallets/worker-wallet.js';
import type { JobPlanning } from './job-planning.js';

/** Injection token of the function that creates the planning of a wallet: `CreatePlanning`. */
export const CREATE_PLANNING = Symbol('create planning');

export interface PlanningParts {
  environment: AgentWorkerEnvironment;
  journal: Journal;
  wallet: WorkerWallet;
}

export interface WalletPlanning {
  planning: JobPlanning;
  /** Aborts the background work. The wallet's next holder starts it again. */
  stop: () => Promise<void>;
}

/** @throws ConfigurationError when the wallet's policy is invalid */
export type CreatePlanning = (parts: PlanningParts) => WalletPlanning;

/** The planning of each wallet of this process, for its lane and for dry runs. */
@Injectable()
export class Plannings implements OnModuleDestroy {
  readonly all: (WalletPlanning & { wallet: WorkerWallet })[] = [];

  constructor(
    @Inject(CREATE_PLANNING) private readonly create: CreatePlanning,
    @Inject(AgentWorkerEnvironment) private readonly environment: AgentWorkerEnvironment,
    @Inject(Journal) private readonly journal: Journal,
  ) {}

  /** @throws ConfigurationError when the policy of a wallet is invalid */
  open(): void {
    const { environment, journal } = this;
    for (const wallet of environment.ownWallets) {
      this.all.push({ wallet, ...this.create({ environment, journal, wallet }) });
    }
  }

  /** Null: this process does not sign for that wallet. */
  find(walletName: string): JobPlanning | null {
    return this.all.find(({ wallet }) => wallet.name === walletName)?.planning ?? null;
  }

  async onModuleDestroy(): Promise<void> {
    await Promise.all(this.all.map(({ stop }) => stop()));
  }
}
