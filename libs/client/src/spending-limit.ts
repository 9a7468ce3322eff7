import { formatTokenAmount, parseTokenAmount, PaymentError } from '@tollgate/protocol';

import type { ChosenRequirement } from './choose-requirement.js';

/** Counts what was signed since it was made, per asset, and refuses to pass `maxTotal` (decimal text). */
export class SpendingLimit {
  readonly #maxTotal: string | undefined;
  readonly #spent = new Map<string, bigint>();

  constructor(maxTotal: string | undefined) {
    this.#maxTotal = maxTotal;
  }

  /**
   * Takes the amount from the budget at once; call the result to give it back when nothing was signed.
   * @throws PaymentError `over_limit`.
   */
  reserve({ asset, amountBaseUnits }: Pick<ChosenRequirement, 'asset' | 'amountBaseUnits'>): () => void {
    const key = `${asset.chainId}:${asset.address.toLowerCase()}`;
    const spent = (this.#spent.get(key) ?? 0n) + amountBaseUnits;
    if (this.#maxTotal !== undefined && spent > parseTokenAmount(this.#maxTotal, asset.decimals)) {
      throw new PaymentError('over_limit', `This payment would pass the total limit of ${this.#maxTotal}.`, {
        hint: 'Raise maxTotal, or make a new client.',
        details: { spentAfter: formatTokenAmount(spent, asset.decimals), maxTotal: this.#maxTotal },
      });
    }
    this.#spent.set(key, spent);
    return () => this.#spent.set(key, (this.#spent.get(key) ?? 0n) - amountBaseUnits);
  }
}
