import type { SignedTransaction } from '@tollgate/client';

import { retryNetwork } from '../chain/explain-failure.js';
import { estimateOf } from '../plan/limit-gas.js';
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
      return context.sender.inTurn(() => signPlan(context, plan));
    case 'read-only':
      throw new AgentKitError('READ_ONLY', `This kit only reads; ${plan.operation} was planned and not sent.`);
  }
}

/**
 * Signs every step with consecutive nonces and sends nothing: another program broadcasts the bytes, in order. They are
 * worthless once the account sends something else, because it uses up their nonces. No allowance is revoked afterwards.
 */
async function signPlan(context: ExecutionContext, plan: Plan): Promise<ToolResult> {
  const { sender } = context;
  if (plan.payment) {
    throw new AgentKitError('READ_ONLY', 'A payment is made and redeemed in one call; sign-only kits cannot pay.');
  }
  assertNotExpired(plan);
  const sign = async () => {
    const steps = await settleApprovals(context, plan.steps);
    const gas = await simulateSteps(context, steps);
    const signed: SignedTransaction[] = [];
    for (const [index, { to, data, value }] of steps.entries()) {
      const [first] = signed;
      const nonce = first && { nonce: first.nonce + index };
      signed.push(await sender.sign({ to, data, value, gas: estimateOf(gas?.[index]), ...nonce }));
    }
    return signed;
  };
  const signed = await retryNetwork(sign, context.networkRetryDelayMs);
  const main = signed.at(-1);
  return {
    ...plan.report,
    status: 'signed',
    ...(main ? { result: main.txHash } : {}),
    transactions: [],
    signedTransactions: signed.map(({ rawTransaction }) => rawTransaction),
  };
}
