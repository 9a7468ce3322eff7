import type { Journal } from '@tollgate/journal';

import type { AgentWorkerEnvironment } from './agent-worker.config.js';
import type { JobPlanning } from './planning/job-planning.js';
import type { WorkerWallet } from './wallets/worker-wallet.js';

/** Injection token of the wallets that this worker signs for: `readonly WorkerWallet[]`. */
export const WALLETS = Symbol('wallets');

/** Injection token of the webhook delivery: `Webhooks`. */
export const WEBHOOKS = Symbol('webhooks');

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

/**
 * Creates the planning of one wallet.
 * @throws ConfigurationError when the wallet's policy is invalid
 */
export type CreatePlanning = (parts: PlanningParts) => WalletPlanning;
