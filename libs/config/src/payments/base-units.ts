import { parseTokenAmount } from '@tollgate/protocol';

import type { PaymentOption } from './payments.js';

/** What becomes of a part of a base unit. */
export type Rounding = 'down' | 'up' | 'refused';

/** The token that an option is paid in, and what it is worth. */
export type TokenUnit = Pick<PaymentOption, 'decimals' | 'rate'>;

/**
 * An amount in the seller's unit, as decimal text, in base units of an option's token.
 *
 * @throws PaymentError `invalid_amount` for a text that is no decimal number, for more than a uint256, and where parts
 * of a base unit are refused
 */
export function toBaseUnits(amount: string, { decimals, rate }: TokenUnit, rounding: Rounding): bigint {
  const product = multiply(amount, rate);
  const [whole = '', fraction = ''] = product.split('.');
  const rest = fraction.slice(decimals);
  if (rounding === 'refused' || !/^0*[1-9]\d*$/.test(rest)) return parseTokenAmount(product, decimals);
  const cut = parseTokenAmount(`${whole}.${fraction.slice(0, decimals) || '0'}`, decimals);
  return rounding === 'down' ? cut : parseTokenAmount(String(cut + 1n), 0);
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
