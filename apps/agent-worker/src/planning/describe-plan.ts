import type { WalletLimit } from '@tollgate/agent-jobs';
import {
  showSymbol,
  type PlannedOperation,
  type TokenAmount,
  isSameToken,
  type TokenLimit,
} from '@tollgate/agent-kit/planner';
import type { Spending } from '@tollgate/journal';
import { formatTokenAmount, type AgentAmountView, type AgentPlanView } from '@tollgate/protocol';

/** A plan as shown to the job's owner. */
export function describePlan(
  { plan, spending }: Pick<PlannedOperation, 'plan' | 'spending'>,
  terms: Pick<AgentPlanView, 'floorsHash' | 'needsApproval'>,
): AgentPlanView {
  return {
    summary: plan.summary,
    preview: plan.preview,
    spends: spending.map(describeAmount),
    receives: plan.receives.map(describeAmount),
    recipients: plan.recipients,
    warnings: plan.warnings ?? [],
    slippageBps: plan.slippageBps ?? null,
    floorsHash: terms.floorsHash,
    needsApproval: terms.needsApproval,
  };
}

function describeAmount({ token, amountBaseUnits }: TokenAmount): AgentAmountView {
  return {
    token: token.address,
    symbol: showSymbol(token),
    amount: formatTokenAmount(amountBaseUnits, token.decimals),
  };
}

/**
 * Whether a job needs an approval: it spends more of a token than the configured amount, or a token for which none is
 * configured. A plan that gives something away but counts no spending transfers an ERC-721 token, such as a liquidity
 * position.
 */
export function needsApproval(
  { spending, plan }: Pick<PlannedOperation, 'spending' | 'plan'>,
  above: readonly TokenLimit[],
): boolean {
  if (above.length === 0) return false;
  if (plan.recipients.length > 0 && spending.every(({ amountBaseUnits }) => amountBaseUnits === 0n)) return true;
  return spending.some(({ token, amountBaseUnits }) => {
    const limit = above.find((candidate) => isSameToken(candidate.token, token));
    return amountBaseUnits > (limit?.amountBaseUnits ?? 0n);
  });
}

/** A job's share of the daily limits, token by token. Tokens without a limit are not counted. */
export function countSpending(spending: readonly TokenAmount[], perDay: readonly TokenLimit[]): Spending[] {
  return perDay.flatMap(({ token, amountBaseUnits: limit }) => {
    const spent = spending.find((amount) => isSameToken(amount.token, token));
    if (!spent || spent.amountBaseUnits === 0n) return [];
    return [{ asset: nameAsset(token), amount: spent.amountBaseUnits, limit }];
  });
}

/** The limits of a policy, for operators. */
export function describeLimits(
  { perOperation, perDay }: { perOperation: readonly TokenLimit[]; perDay: readonly TokenLimit[] },
  above: readonly TokenLimit[],
): WalletLimit[] {
  const tokens = new Map([...perOperation, ...perDay, ...above].map(({ token }) => [nameAsset(token), token]));
  const find = (limits: readonly TokenLimit[], asset: string): string | null =>
    limits.find(({ token }) => nameAsset(token) === asset)?.amountBaseUnits.toString() ?? null;
  return [...tokens].map(([asset, { symbol, decimals }]) => ({
    asset,
    symbol,
    decimals,
    perOperation: find(perOperation, asset),
    perDay: find(perDay, asset),
    approvalAbove: find(above, asset),
  }));
}

function nameAsset({ isNative, address }: TokenLimit['token']): string {
  return isNative ? 'native' : address;
}
