import { isSameToken, type TokenAmount, type TokenLimit } from '@tollgate/agent-kit/planner';
import type { Spending } from '@tollgate/journal';

/** A job's share of the daily limits, token by token. Tokens without a limit are not counted. */
export function countSpending(spending: readonly TokenAmount[], perDay: readonly TokenLimit[]): Spending[] {
  return perDay.flatMap(({ token, amountBaseUnits: limit }) => {
    const spent = spending.find((amount) => isSameToken(amount.token, token));
    if (!spent || spent.amountBaseUnits === 0n) return [];
    return [{ asset: token.isNative ? 'native' : token.address, amount: spent.amountBaseUnits, limit }];
  });
}
