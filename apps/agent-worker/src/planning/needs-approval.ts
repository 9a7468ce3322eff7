import { isSameToken, type TokenAmount, type TokenLimit } from '@tollgate/agent-kit/planner';

/** Whether a person has to agree: more than an amount that is set leaves, or a token for which none is set. */
export function needsApproval(spending: readonly TokenAmount[], above: readonly TokenLimit[]): boolean {
  if (above.length === 0) return false;
  return spending.some(({ token, amountBaseUnits }) => {
    const limit = above.find((candidate) => isSameToken(candidate.token, token));
    return amountBaseUnits > (limit?.amountBaseUnits ?? 0n);
  });
}
