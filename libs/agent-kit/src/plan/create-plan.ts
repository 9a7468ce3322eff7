import { formatEther } from 'viem';

import type { Connection } from '../agent-kit-connection.js';
import { AgentKitError } from '../agent-kit-error.js';
import { readFees, readPrice } from '../execution/send-step.js';
import type { WriteOperation } from '../operations/operation.js';
import { assertPolicy } from '../policy/assert-policy.js';
import { listSpending } from '../policy/list-spending.js';
import type { SpendingPolicy } from '../policy/policy.js';
import { createPreview } from './create-preview.js';
import { freezeCopy } from './freeze-copy.js';
import type { Plan, PlanDraft } from './plan.js';
import { settleApprovals } from './settle-approvals.js';
import { simulateSteps } from './simulate-steps.js';

/** The specification warns below this native balance (section "Limits"): 0.01. */
const LOW_BALANCE_WEI = 10n ** 16n;

interface PlanRules {
  policy: SpendingPolicy;
  onLowBalance: (balance: string) => void;
}

/**
 * Makes an operation's draft into a plan that may be carried out.
 * @throws AgentKitError when the policy forbids it, a step would fail, or the account cannot pay for it.
 */
export async function createPlan(
  operation: WriteOperation,
  input: Record<string, unknown>,
  { context, registry, limits }: Connection,
  { policy, onLowBalance }: PlanRules,
): Promise<Plan> {
  const { client, account } = context;
  const balance = await client.getBalance({ address: account });
  const isLow = balance < LOW_BALANCE_WEI;
  if (isLow) onLowBalance(formatEther(balance));
  // A copy: a plugin that keeps its draft cannot change what was looked at.
  const draft = freezeCopy(await operation.plan(input, context));
  const draftOfOperation = { ...draft, operation: operation.name };
  assertPolicy(draftOfOperation, listSpending(draft, context.tokens.native), policy, limits);
  const gasOfSteps = await simulateSteps(client, account, await settleApprovals(client, account, draft.steps));
  const gas = gasOfSteps?.reduce((sum, used) => sum + used, 0n);
  // The paying client makes a payment's transfer, and finds out itself what it costs.
  const gasEstimate =
    gas === undefined || draft.payment ? null : { gas, feeWei: gas * readPrice(await readFees(context)) };
  assertCanPay(draft, balance, gasEstimate?.feeWei ?? 0n, registry.native.symbol);
  const warning = `only ${formatEther(balance)} ${registry.native.symbol} are left for gas`;
  const plan = {
    ...draftOfOperation,
    ...(isLow ? { warnings: [...(draft.warnings ?? []), warning] } : {}),
    input,
    account,
    chainId: context.chainId,
    gasEstimate,
  };
  return freezeCopy({ ...plan, preview: createPreview(plan, registry.native.symbol) });
}

function assertCanPay(draft: PlanDraft, balance: bigint, feeWei: bigint, symbol: string): void {
  const needed = draft.steps.reduce((sum, { value }) => sum + value, feeWei);
  if (balance >= needed) return;
  throw new AgentKitError(
    'INSUFFICIENT_FUNDS',
    `There are insufficient funds: ${formatEther(needed)} ${symbol} are needed with the gas, ${formatEther(balance)} are there.`,
  );
}
