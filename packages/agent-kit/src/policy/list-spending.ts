import type { Plan } from '../plan/plan.js';
import { isSameToken } from '../tokens/is-same-token.js';
import type { Token, TokenAmount } from '../tokens/token.js';

/**
 * The most that a plan can take out of the account, by token: its declared spending, or the amounts that its calls send
 * and approve if those are higher. A plugin's declaration alone cannot be trusted for a limit.
 * @param native the chain's native token.
 */
export function listSpending({ spends, steps }: Pick<Plan, 'spends' | 'steps'>, native: Token): TokenAmount[] {
  const value = steps.reduce((sum, step) => sum + step.value, 0n);
  const approved = steps.flatMap(({ approval }) => (approval ? [approval] : []));
  const said = sumByToken(spends);
  const given = sumByToken([...(value > 0n ? [{ token: native, amountBaseUnits: value }] : []), ...approved]);
  return [...said, ...given.filter(({ token }) => !find(said, token))].map(({ token, amountBaseUnits }) => {
    const called = find(given, token)?.amountBaseUnits ?? 0n;
    return { token, amountBaseUnits: called > amountBaseUnits ? called : amountBaseUnits };
  });
}

function sumByToken(amounts: readonly TokenAmount[]): TokenAmount[] {
  const sums: TokenAmount[] = [];
  for (const { token, amountBaseUnits } of amounts) {
    const sum = find(sums, token);
    if (sum) sum.amountBaseUnits += amountBaseUnits;
    else sums.push({ token, amountBaseUnits });
  }
  return sums;
}

function find(amounts: readonly TokenAmount[], wanted: Token): TokenAmount | undefined {
  return amounts.find(({ token }) => isSameToken(token, wanted));
}
