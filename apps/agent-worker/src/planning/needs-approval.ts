import { isSameToken, type PlannedOperation, type TokenLimit } from '@tollgate/agent-kit/planner';

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
