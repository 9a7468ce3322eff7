import { formatTokenAmount, parseTokenAmount, PaymentError } from '@tollgate/protocol';

import type { AllowedOffer } from './judge-offers.js';

/**
 * The maximum of all payments together, per asset, over all clients that share this object as `maxTotal`. It counts
 * what this process has signed since its creation: for payments by use the maximum, with no refund for tokens that were
 * never moved.
 */
export class SpendingLimit {
  readonly #spent = new Map<string, bigint>();

  /** @param maxTotal decimal text in the unit of each asset */
  constructor(readonly maxTotal: string) {}

  /**
   * Takes the amount from the budget; call the result to return it when nothing was signed. There is no await between
   * checking and taking, so concurrent calls cannot take the same amount.
   * @throws PaymentError `over_limit`.
   */
  reserve({ asset, amountBaseUnits }: Pick<AllowedOffer, 'asset' | 'amountBaseUnits'>): () => void {
    const { maxTotal } = this;
    const key = `${asset.chainId}:${asset.address.toLowerCase()}`;
    const spent = (this.#spent.get(key) ?? 0n) + amountBaseUnits;
    if (spent > parseTokenAmount(maxTotal, asset.decimals)) {
      throw new PaymentError('over_limit', `This payment would exceed the total limit of ${maxTotal}.`, {
        hint: 'Raise maxTotal, or create a new client or SpendingLimit.',
        details: { spentAfter: formatTokenAmount(spent, asset.decimals), maxTotal },
      });
    }
    this.#spent.set(key, spent);
    return () => this.#spent.set(key, (this.#spent.get(key) ?? 0n) - amountBaseUnits);
  }
}
