import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { KnownToken, WalletLimit } from '@tollgate/agent-jobs';
import { Journal, type JobPlanner, type JudgeStep } from '@tollgate/journal';
import type { PlanJobReply, PlanJobRequest } from '@tollgate/transport';

import { AgentWorkerEnvironment } from '../config/agent-worker.config.js';
import type { WorkerWallet } from '../wallets/worker-wallet.js';

/**
 * Everything that a wallet's lane and the dry runs need to know about operations; `WalletPlanner` implements it for one
 * wallet.
 */
export interface JobPlanning extends JobPlanner {
  policy: NonNullable<JobPlanner['policy']>;
  undo: NonNullable<JobPlanner['undo']>;
  judgeStep: JudgeStep;
  /** The tokens that jobs may refer to by symbol instead of by address. */
  readTokens(): Promise<readonly KnownToken[]>;
  /** The limits of the wallet's policy, token by token. */
  readLimits(): Promise<readonly WalletLimit[]>;
  /** The effect of a job, without writing or sending anything. Never throws. */
  dryRun(request: Pick<PlanJobRequest, 'operation' | 'input'>): Promise<PlanJobReply>;
}

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
