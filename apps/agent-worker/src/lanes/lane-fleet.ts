import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';

import { LaneRunner, LaneShare, type Chain, type Journal, type LaneSettings } from '@tollgate/journal';

import type { JobPlanning } from '../planning/job-planning.js';
import type { WorkerWallet } from '../wallets/worker-wallet.js';
import type { WalletPlanning } from '../worker-parts.js';
import { attendLane, type Attendant } from './attend-lane.js';
import type { LaneTroubles } from './lane-troubles.js';

export interface LaneFleetOptions {
  journal: Journal;
  chain: Chain;
  settings: Partial<LaneSettings>;
  wallets: readonly WorkerWallet[];
  createPlanning: (wallet: WorkerWallet) => WalletPlanning;
  /** Tasks that run beside a wallet's lane; `wake` looks at a job of the lane soon. */
  attendantsOf: (wallet: WorkerWallet, planning: JobPlanning, wake: (jobId: string) => void) => readonly Attendant[];
  troubles: LaneTroubles;
}

interface Member extends WalletPlanning {
  runner: LaneRunner;
}

/** The lanes of this process's wallets. Each runs here whenever no other process holds it. */
export class LaneFleet {
  /** Identifies this run of this process; the host name is for operators. */
  readonly owner = `${hostname().slice(0, 64)}-${randomBytes(8).toString('hex')}`;
  readonly #share = new LaneShare();
  readonly #members: ReadonlyMap<string, Member>;

  /** @throws ConfigurationError when the policy of a wallet is invalid */
  constructor(private readonly options: LaneFleetOptions) {
    this.#members = new Map(options.wallets.map((wallet) => [wallet.name, this.#createMember(wallet)]));
  }

  start(): void {
    for (const { runner } of this.#members.values()) runner.start();
  }

  /** Starts nothing new, lets running work finish, and releases every lane. */
  async stop(): Promise<void> {
    const members = [...this.#members.values()];
    await Promise.all(members.map(({ runner }) => runner.stop()));
    await Promise.all(members.map((member) => member.stop()));
  }

  /** Null: this process does not sign for that wallet. */
  planningOf(walletName: string): JobPlanning | null {
    return this.#members.get(walletName)?.planning ?? null;
  }

  isHolding(walletName: string): boolean {
    return this.#members.get(walletName)?.runner.isHolding ?? false;
  }

  #createMember(wallet: WorkerWallet): Member {
    const { journal, chain, settings, createPlanning, attendantsOf, troubles } = this.options;
    const { planning, stop } = createPlanning(wallet);
    const runner: LaneRunner = new LaneRunner({
      journal,
      chain,
      settings,
      signer: wallet.signer,
      planner: planning,
      judgeStep: (...asked) => planning.judgeStep(...asked),
      owner: this.owner,
      share: this.#share,
      attend: attendLane(attendantsOf(wallet, planning, (jobId) => runner.wake(jobId))),
      onTrouble: (error) => troubles.report(wallet.name, error),
    });
    return { planning, runner, stop };
  }
}
