import type { SpendingPolicy } from '@tollgate/agent-kit/planner';
import type { Journal } from '@tollgate/journal';
import type { Hex } from '@tollgate/protocol';

import { PaymentPlanner, type PaymentPlannerOptions } from '../src/payments/payment-planner.js';
import { createOperationPlanner } from '../src/planning/create-operation-planner.js';
import { WalletPlanner } from '../src/planning/wallet-planner.js';

export interface PayingWallet {
  rpcUrl: string;
  address: Hex;
  journal: Journal;
  policy?: SpendingPolicy;
}

/** The planners of a wallet that may pay servers at private addresses. */
export function createPayingWallet(
  { rpcUrl, address, journal, policy = {} }: PayingWallet,
  changes: Partial<PaymentPlannerOptions> = {},
): { wallet: WalletPlanner; payments: PaymentPlanner } {
  const known = { name: 'main', address, policy, approvalAbove: {} };
  const kit = createOperationPlanner(known, { rpcUrls: [rpcUrl] });
  const payments = new PaymentPlanner({
    journal,
    readContext: () => kit.readContext(),
    allowPrivateTargets: true,
    ...changes,
  });
  return { wallet: new WalletPlanner({ wallet: known, kit, payments }), payments };
}
