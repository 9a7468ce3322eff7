import { keccak256, type Hex } from 'viem';

import { readFees } from '../chain/fees.js';
import { retryNetwork } from '../chain/retry-network.js';
import { gasLimitOf } from '../plan/limit-gas.js';
import { settleApprovals } from '../plan/settle-approvals.js';
import { simulateSteps } from '../plan/simulate-steps.js';
import { AgentKitError } from '../types/agent-kit-error.js';
import { assertNotExpired, type Plan } from '../types/plan.js';
import type { ToolResult } from '../types/tool-result.js';
import { executeDirectly } from './execute-directly.js';
import type { ExecutionContext } from './execution-context.js';

/**
 * Executes a plan. Throws if nothing was sent; returns once something was sent, whatever its outcome. No executor here
 * survives its process; the durable one is the agent worker's.
 */
export async function executePlan(
  plan: Plan,
  executor: 'direct' | 'sign-only' | 'read-only',
  context: ExecutionContext,
): Promise<ToolResult> {
  switch (executor) {
    case 'direct':
      return executeDirectly(context, plan);
    case 'sign-only':
      return context.lane.run(() => signPlan(context, plan));
    case 'read-only':
      throw new AgentKitError('READ_ONLY', `This kit only reads; ${plan.operation} was planned and not sent.`);
  }
}

/**
 * Signs every step with consecutive nonces and sends nothing: another program broadcasts the bytes, in order. They are
 * worthless once the account sends something else, because it uses up their nonces. No allowance is revoked afterwards.
 */
async function signPlan(context: ExecutionContext, plan: Plan): Promise<ToolResult> {
  const { client, account, chainId, signer, lane } = context;
  if (plan.payment) {
    throw new AgentKitError('READ_ONLY', 'A payment is made and redeemed in one call; sign-only kits cannot pay.');
  }
  assertNotExpired(plan);
  const prepare = async () => {
    const steps = await settleApprovals(context, plan.steps);
    const gas = await simulateSteps(context, steps);
    const [fees, nonce] = await Promise.all([readFees(context), lane.readNextNonce(client, account)]);
    return steps.map(({ to, data, value }, index) => {
      return { to, data, value, ...fees, gas: gasLimitOf(gas?.[index]), nonce: nonce + index, chainId };
    });
  };
  const transactions = await retryNetwork(prepare, context.networkRetryDelayMs);
  const signedTransactions: Hex[] = [];
  for (const transaction of transactions) signedTransactions.push(await signer.signTransaction(transaction));
  const main = signedTransactions.at(-1);
  return {
    ...plan.report,
    status: 'signed',
    ...(main ? { result: keccak256(main) } : {}),
    transactions: [],
    signedTransactions,
  };
}
