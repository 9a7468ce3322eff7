import { formatTokenAmount, parseTokenAmount, PaymentError } from '@tollgate/protocol';

import type { ChosenRequirement } from './choose-requirement.js';

/**
 * The most that all payments together may cost, per asset, of every client whose `maxTotal` it is. Counts what is signed
 * in this process since it was made: of what is metered the maximum, and nothing back for what was never moved.
 */
export class SpendingLimit {
  /** Decimal text in the unit of each asset. */
  readonly maxTotal: string;
  readonly #spent = new Map<string, bigint>();

  constructor(maxTotal: string) {
    this.maxTotal = maxTotal;
  }

  /**
   * Takes the amount from the budget; call the result to give it back when nothing was signed. Nothing is awaited between
   * the look and the taking: of calls in parallel none takes what another has.
   * @throws PaymentError `over_limit`.
   */
  reserve({ asset, amountBaseUnits }: Pick<ChosenRequirement, 'asset' | 'amountBaseUnits'>): () => void {
    const { maxTotal } = this;
    const key = `${asset.chainId}:${asset.address.toLowerCase()}`;
    const spent = (this.#spent.get(key) ?? 0n) + amountBaseUnits;
    if (spent > parseTokenAmount(maxTotal, asset.decimals)) {
      throw new PaymentError('over_limit', `This payment would pass the total limit of ${maxTotal}.`, {
        hint: 'Raise maxTotal, or make a new client or SpendingLimit.',
        details: { spentAfter: formatTokenAmount(spent, asset.decimals), maxTotal },
      });
    }
    this.#spent.set(key, spent);
    return () => this.#spent.set(key, (this.#spent.get(key) ?? 0n) - amountBaseUnits);
  }
}
