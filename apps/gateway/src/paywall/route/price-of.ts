import type { PaymentOption } from '@tollgate/config';
import { parseTokenAmount, PaymentError } from '@tollgate/protocol';

import type { PaidRoute } from './paid-route.js';

/** As many as a reference holds. */
const MOST_BASE_UNITS = 2n ** 128n - 1n;

type Rated = Pick<PaymentOption, 'decimals' | 'rate'>;

/**
 * What a route costs in an option, in base units.
 *
 * @throws PaymentError `invalid_amount` where that is no whole number of them
 */
export function priceOf({ price }: Pick<PaidRoute, 'price'>, option: Rated): bigint {
  return toBaseUnits(price, option);
}

/** An amount in the seller's unit, as decimal text, in base units of an option. @throws PaymentError `invalid_amount` */
export function toBaseUnits(amount: string, { decimals, rate }: Rated): bigint {
  return parseTokenAmount(multiply(amount, rate), decimals);
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

/** The same of a charge, which need not be a whole number of base units in each of several options: rounded down. */
export function toWholeBaseUnits(amount: string, option: Rated): bigint {
  const [whole = '', fraction = ''] = multiply(amount, option.rate).split('.');
  return parseTokenAmount(
    fraction === '' ? whole : `${whole}.${fraction.slice(0, option.decimals) || '0'}`,
    option.decimals,
  );
}

const DECIMAL = /^(\d+)(?:\.(\d+))?$/;

/** The exact product of two decimal numbers; a text that is none is left for its reader to refuse. */
function multiply(text: string, rate: string): string {
  const [[, whole, fraction = ''], [, rateWhole, rateFraction = '']] = [
    DECIMAL.exec(text) ?? [],
    DECIMAL.exec(rate) ?? [],
  ];
  if (rate === '1' || whole === undefined || rateWhole === undefined) return text;
  const places = fraction.length + rateFraction.length;
  const digits = (BigInt(whole + fraction) * BigInt(rateWhole + rateFraction)).toString().padStart(places + 1, '0');
  return places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`;
}
