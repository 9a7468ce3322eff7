import { toBaseUnits, type PaymentOption, type TokenUnit } from '@tollgate/config';
import { PaymentError } from '@tollgate/protocol';

import type { PaidRoute } from './paid-route.js';

/** As many as a reference holds. */
const MOST_BASE_UNITS = 2n ** 128n - 1n;

/**
 * What a route costs in an option, in base units.
 *
 * @throws PaymentError `invalid_amount` where that is no whole number of them
 */
export function priceOf({ price }: Pick<PaidRoute, 'price'>, option: TokenUnit): bigint {
  return toBaseUnits(price, option, 'refused');
}

/** Why a route cannot be sold at this price, in words that follow its place: a sentence for each option. */
export function findPriceProblems(price: string, options: readonly PaymentOption[]): string[] {
  const problems = options.flatMap((option) => {
    const where = option.rate === '1' ? '' : ` (${option.name} has the rate ${option.rate})`;
    try {
      const amount = priceOf({ price }, option);
      if (amount > MOST_BASE_UNITS) return [`is more than 2^128 - 1 base units${where}`];
      if (amount > 0n) return [];
      return ['is 0: every price must be above 0. Serve free resources beside the gateway, not through it'];
    } catch (error) {
      if (!(error instanceof PaymentError)) throw error;
      return [`${error.message} ${error.hint ?? ''}`.trim() + where];
    }
  });
  return [...new Set(problems)];
}
