import { showAmount } from '../tokens/show-token.js';
import { AgentKitError } from '../types/agent-kit-error.js';
import type { Plan } from '../types/plan.js';
import { isSameToken, type Token, type TokenAmount } from '../types/token.js';
import type { TokenLimit } from './token-limits.js';

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

/**
 * Counts a kit's spending per day (UTC), in memory: each process counts separately, and starts from zero. A wallet
 * whose daily limit must hold across processes belongs behind the agent worker.
 */
export class DailySpending {
  #day = '';
  readonly #spentByToken = new Map<string, bigint>();

  /**
   * Takes the amounts from today's limits, all or none.
   * @returns a function that returns them, for when nothing was spent after all.
   * @throws AgentKitError `POLICY_VIOLATION` with every limit that would be exceeded.
   */
  reserve(amounts: readonly TokenAmount[], limits: readonly TokenLimit[], now = new Date()): () => void {
    this.#startDay(now.toISOString().slice(0, 10));
    const totals = sumByToken(amounts);
    const problems = limits.flatMap((limit) => {
      const spent = this.#spentByToken.get(keyOf(limit.token)) ?? 0n;
      const added = find(totals, limit.token)?.amountBaseUnits ?? 0n;
      if (added === 0n || spent + added <= limit.amountBaseUnits) return [];
      const left = limit.amountBaseUnits > spent ? limit.amountBaseUnits - spent : 0n;
      return [`${showAmount({ token: limit.token, amountBaseUnits: left })} is left of today's ${showAmount(limit)}`];
    });
    if (problems.length > 0) {
      throw new AgentKitError('POLICY_VIOLATION', `The policy of this wallet forbids it: ${problems.join('; ')}.`, {
        details: { problems },
      });
    }
    this.#add(totals, 1n);
    const day = this.#day;
    return () => {
      if (this.#day === day) this.#add(totals, -1n);
    };
  }

  #startDay(day: string): void {
    if (this.#day === day) return;
    this.#day = day;
    this.#spentByToken.clear();
  }

  #add(totals: readonly TokenAmount[], sign: bigint): void {
    for (const { token, amountBaseUnits } of totals) {
      const key = keyOf(token);
      this.#spentByToken.set(key, (this.#spentByToken.get(key) ?? 0n) + sign * amountBaseUnits);
    }
  }
}

function keyOf({ address }: TokenAmount['token']): string {
  return address.toLowerCase();
}
