import { isSameToken, type PlannedOperation, type TokenLimit } from '@tollgate/agent-kit/planner';

/**
 * Whether a person has to agree: more than an amount that is set leaves, or a token for which none is set. Where nothing
 * that can be counted goes to somebody else, it is an ERC-721 token, and a liquidity position is one.
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
