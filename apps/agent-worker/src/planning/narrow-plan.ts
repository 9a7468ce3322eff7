import type { PlanFloors } from '@tollgate/agent-jobs';
import { createApprovalStep, type OperationContext, type Plan, type PlanDraft } from '@tollgate/agent-kit/planner';
import type { JobRecord } from '@tollgate/journal';
import { formatTokenAmount } from '@tollgate/protocol';

import { listGranted } from './create-job-steps.js';

type Input = Readonly<Record<string, unknown>>;

/**
 * Upper bounds per token for a fresh plan whose price or interest would take a little more: the approved amounts, and
 * the allowances that the job has already set. Base units by lower-case address.
 */
export type Ceilings = ReadonlyMap<string, bigint>;

export function listCeilings(job: Pick<JobRecord, 'steps' | 'stepIndex'>, agreed: PlanFloors | null): Ceilings {
  const ceilings = new Map<string, bigint>();
  for (const [token, amount] of Object.entries(agreed?.spends ?? {})) ceilings.set(token, BigInt(amount));
  for (const { token, amount } of listGranted(job)) {
    const known = ceilings.get(token.toLowerCase());
    ceilings.set(token.toLowerCase(), known !== undefined && known < amount ? known : amount);
  }
  return ceilings;
}

/**
 * A new position uses the amounts that were approved for it, even if the pool's price would now take more of one token.
 */
export async function limitInput(
  operation: string,
  input: Input,
  ceilings: Ceilings,
  tokens: OperationContext['tokens'],
): Promise<Input> {
  if (operation !== 'addLiquidity' || ceilings.size === 0) return input;
  const limit = async (reference: unknown, amount: unknown): Promise<unknown> => {
    if (typeof reference !== 'string' || typeof amount !== 'string') return amount;
    const { address, decimals } = await tokens.resolve(reference);
    const ceiling = ceilings.get(address.toLowerCase());
    return ceiling === undefined ? amount : formatTokenAmount(ceiling, decimals);
  };
  const [amountA, amountB] = await Promise.all([
    limit(input['tokenA'], input['amountA']),
    limit(input['tokenB'], input['amountB']),
  ]);
  return { ...input, amountA, amountB };
}

/** No allowance, and no declared spending, exceeds what was approved or set before. */
export function limitDraft(draft: PlanDraft, ceilings: Ceilings): PlanDraft {
  const isAbove = (token: string, amount: bigint) => amount > (ceilings.get(token.toLowerCase()) ?? amount);
  const limited = new Set<string>();
  const steps = draft.steps.map((step) => {
    const { approval } = step;
    if (!approval || !isAbove(approval.token.address, approval.amountBaseUnits)) return step;
    const name = approval.token.address.toLowerCase();
    limited.add(name);
    return createApprovalStep({ ...approval, amountBaseUnits: ceilings.get(name) ?? 0n });
  });
  const spends = draft.spends.map((amount) => {
    const name = amount.token.address.toLowerCase();
    if (!limited.has(name) || !isAbove(name, amount.amountBaseUnits)) return amount;
    return { ...amount, amountBaseUnits: ceilings.get(name) ?? 0n };
  });
  return { ...draft, steps, spends };
}

/**
 * Inputs that stay within the agreed bounds where the plan of the given ones does not: less slippage tolerance if the
 * price moved a little, or the agreed repayment instead of a debt that has grown since. Null: there are none.
 */
export function narrowInput(operation: string, input: Input, plan: Plan, agreed: PlanFloors): Input | null {
  if (operation === 'repayLending') {
    const [owed] = plan.spends;
    const most = BigInt(agreed.spends[owed?.token.address.toLowerCase() ?? ''] ?? 0);
    if (!owed || most === 0n || owed.amountBaseUnits <= most) return null;
    return { ...input, amount: formatTokenAmount(most, owed.token.decimals) };
  }
  if (!['swap', 'addLiquidity', 'removeLiquidity'].includes(operation)) return null;
  const { slippageBps } = plan;
  if (slippageBps === undefined || slippageBps === 0) return null;
  const [amounts, floors] = plan.deposit
    ? [plan.deposit.atLeast, agreed.deposit?.atLeast ?? {}]
    : [plan.receives, agreed.receives];
  const tolerances = amounts.map(({ token, amountBaseUnits: least }) =>
    toleranceFor(least, slippageBps, BigInt(floors[token.address.toLowerCase()] ?? 0)),
  );
  const tolerance = Math.min(...tolerances);
  return tolerance >= 0 && tolerance < slippageBps ? { ...input, slippageBps: tolerance } : null;
}

/** The slippage tolerance with which a quote still has the agreed minimum; below 0 if it has less anyway. */
function toleranceFor(least: bigint, slippageBps: number, agreed: bigint): number {
  if (agreed <= least) return slippageBps;
  // The quote is rounded down: slightly less tolerance is safe, more is not.
  const quoted = ((least - 1n) * 10_000n) / BigInt(10_000 - slippageBps);
  if (quoted < agreed) return -1;
  return Number(((quoted - agreed) * 10_000n) / quoted);
}
