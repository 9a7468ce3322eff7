import type { Journal } from '@tollgate/transactions';

import type { AgentWorkerEnvironment } from './agent-worker.config.js';
import type { JobPlanning } from './planning/job-planning.js';
import type { WorkerWallet } from './wallets/worker-wallet.js';

/** Token of the wallets that this worker signs for: `readonly WorkerWallet[]`. */
export const WALLETS = Symbol('wallets');

/** Token of what posts events to webhook targets: `Webhooks`. */
export const WEBHOOKS = Symbol('webhooks');

export interface PlanningParts {
  environment: AgentWorkerEnvironment;
  journal: Journal;
  wallet: WorkerWallet;
}

export interface WalletPlanning {
  planning: JobPlanning;
  /** Breaks off what runs in the background; the wallet's next holder begins it again. */
  stop: () => Promise<void>;
}

/**
 * Makes what knows the operations, for one wallet.
 * @throws ConfigurationError when the wallet's policy cannot be kept
 */
export type CreatePlanning = (parts: PlanningParts) => WalletPlanning;
