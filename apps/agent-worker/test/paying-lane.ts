import { AgentKitError, type PaymentDraftContext } from '@tollgate/agent-kit/planner';
import type { Hex } from '@tollgate/protocol';
import { PlanFailure, type JobPlanner, type JudgeStep } from '@tollgate/transactions';
import { createPublicClient, http } from 'viem';

import type { PaymentPlanner } from '../src/payments/payment-planner.js';

/** The chain as the kit would see it for a wallet: one token, which gates take. */
export function readPaymentContext(chain: {
  rpcUrl: string;
  chainId: number;
  asset: Hex;
  account: Hex;
}): PaymentDraftContext {
  const { rpcUrl, chainId, asset: address, account } = chain;
  const token = { address, symbol: 'USDC', decimals: 6, isNative: false, isListed: true };
  const client = createPublicClient({ transport: http(rpcUrl, { retryCount: 0 }) });
  return { account, chainId, client, payments: { network: 'chain-testnet', tokens: [token], maxAmount: '0.01' } };
}

/** Payments alone, as a lane takes them: no policy, no simulation. */
export function payOnly(payments: PaymentPlanner): { planner: JobPlanner; judgeStep: JudgeStep } {
  return {
    planner: {
      plan: async (job, context) => {
        const { steps, summary } = await payments.plan(job, context).catch(explain);
        const calls = steps.map(({ label, to, data, value }) => ({ label, to, data, value, gas: 120_000n }));
        return { steps: calls, preview: summary, floorsHash: 'none', needsApproval: false };
      },
    },
    judgeStep: (job, step, receipt, context) => payments.judge(job, step, receipt, context),
  };
}

function explain(error: unknown): never {
  if (!(error instanceof AgentKitError) || error.code === 'NETWORK_ERROR') throw error;
  const { code, message, suggestion } = error;
  throw new PlanFailure({ code, message, suggestion });
}
