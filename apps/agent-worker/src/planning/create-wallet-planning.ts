import { AgentKitError } from '@tollgate/agent-kit/planner';
import { ConfigurationError } from '@tollgate/config';

import { PaymentPlanner } from '../payments/payment-planner.js';
import { createOperationPlanner } from './create-operation-planner.js';
import type { CreatePlanning, PlanningParts } from './plannings.js';
import { WalletPlanner } from './wallet-planner.js';

/** Plans a wallet's jobs with the agent kit, which receives the wallet's address and never its key. */
export const createWalletPlanning: CreatePlanning = ({ environment, journal, wallet }) => {
  const kit = createKit({ environment, wallet });
  const payments = new PaymentPlanner({
    journal,
    readContext: () => kit.readContext(),
    allowPrivateTargets: environment.agent.allowPrivateTargets,
  });
  return { planning: new WalletPlanner({ wallet, kit, payments }), stop: () => payments.stop() };
};

function createKit({ environment: { chain }, wallet }: Pick<PlanningParts, 'environment' | 'wallet'>) {
  try {
    return createOperationPlanner(wallet, {
      rpcUrls: chain.rpcUrl,
      rpcTimeoutMs: chain.rpcTimeoutMs,
      rpcBatchSize: chain.rpcCallsPerRequest,
    });
  } catch (error) {
    if (!(error instanceof AgentKitError)) throw error;
    throw new ConfigurationError([`The wallet ${wallet.name} cannot be used: ${error.message}`]);
  }
}
