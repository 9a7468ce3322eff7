import { AgentKitError } from '../agent-kit-error.js';
import { showAmount } from '../tokens/show-token.js';
import type { TokenAmount } from '../tokens/token.js';
import type { TokenLimit } from './token-limits.js';

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
      const added = totals.get(keyOf(limit.token)) ?? 0n;
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

  #add(totals: ReadonlyMap<string, bigint>, sign: bigint): void {
    for (const [key, amount] of totals) {
      this.#spentByToken.set(key, (this.#spentByToken.get(key) ?? 0n) + sign * amount);
    }
  }
}

function sumByToken(amounts: readonly TokenAmount[]): Map<string, bigint> {
  const totals = new Map<string, bigint>();
  for (const { token, amountBaseUnits } of amounts) {
    totals.set(keyOf(token), (totals.get(keyOf(token)) ?? 0n) + amountBaseUnits);
  }
  return totals;
}

function keyOf({ address }: TokenAmount['token']): string {
  return address.toLowerCase();
}
