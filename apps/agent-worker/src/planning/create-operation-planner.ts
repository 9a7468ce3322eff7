import { AgentKitError, OperationPlanner, type AgentKitOptions } from '@tollgate/agent-kit/planner';

import type { PlannedWallet } from '../wallets/worker-wallet.js';

/** Facts about the chain that the kit does not know. */
export type ChainSettings = Pick<
  AgentKitOptions,
  'registry' | 'tokens' | 'plugins' | 'slippageBps' | 'explorerUrl' | 'payments' | 'fetch' | 'rpcTimeoutMs'
> & {
  /** Tried in this order until one answers. */
  rpcUrls: readonly string[];
  /** Calls per request; a server that takes no batches is asked one by one. */
  rpcBatchSize?: number;
};

const RPC_TIMEOUT_MS = 5000;
const RPC_BATCH_SIZE = 100;

/**
 * The kit's planner for a wallet, limited by the wallet's policy.
 * @throws AgentKitError `INVALID_CONFIGURATION` with every problem
 */
export function createOperationPlanner(wallet: PlannedWallet, chain: ChainSettings): OperationPlanner {
  const { rpcUrls, ...settings } = chain;
  const [rpcUrl, ...otherRpcUrls] = rpcUrls;
  if (rpcUrl === undefined) throw new AgentKitError('INVALID_CONFIGURATION', 'At least one RPC URL is needed.');
  const { operations } = wallet.policy;
  return new OperationPlanner(wallet.address, {
    rpcTimeoutMs: RPC_TIMEOUT_MS,
    rpcBatchSize: RPC_BATCH_SIZE,
    ...settings,
    rpcUrl,
    otherRpcUrls,
    // The lane itself asks again when it is time to.
    networkRetryDelayMs: 0,
    policy: { ...wallet.policy, ...(operations && { operations: operations.map(nameOfKit) }) },
  });
}

/** The kit's name for an operation of jobs. */
export function nameOfKit(operation: string): string {
  if (operation === 'refund') return 'transfer';
  return operation === 'payment' ? 'payForResource' : operation;
}
