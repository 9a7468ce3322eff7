import { isAddress, zeroAddress } from 'viem';

import type { FieldRule } from './field.js';

// Longer text cannot be an amount: 78 digits hold any uint256, and no token has more than 255 decimals.
const MAX_AMOUNT_LENGTH = 78 + 1 + 255;
const AMOUNT_PATTERN = '^\\d+(\\.\\d+)?$';
const DECIMAL = new RegExp(AMOUNT_PATTERN);

const isText = (value: unknown): value is string => typeof value === 'string';
const isAmountOrZero = (value: unknown): value is string =>
  isText(value) && value.length <= MAX_AMOUNT_LENGTH && DECIMAL.test(value);
const isAmount = (value: unknown): boolean => isAmountOrZero(value) && /[1-9]/.test(value);

const amountSchema = { type: 'string', maxLength: MAX_AMOUNT_LENGTH, pattern: AMOUNT_PATTERN, examples: ['1.5'] };

/** A decimal amount in whole units of a token. */
export const AMOUNT: FieldRule = {
  name: 'isAmount',
  accepts: isAmount,
  expectation: 'a decimal amount above 0 as text, for example "1.5"',
  schema: amountSchema,
};

/** For amounts where 0 has a special meaning. */
export const AMOUNT_OR_ZERO: FieldRule = {
  name: 'isAmountOrZero',
  accepts: isAmountOrZero,
  expectation: 'a decimal amount as text, for example "1.5", or "0"',
  schema: amountSchema,
};

export const AMOUNT_OR_MAX: FieldRule = {
  name: 'isAmountOrMax',
  accepts: (value) => value === 'MAX' || isAmount(value),
  expectation: 'a decimal amount above 0 as text, for example "1.5", or "MAX" for all of it',
  schema: { anyOf: [{ type: 'string', const: 'MAX' }, amountSchema] },
};

/** An amount of the token that another field of the input specifies. */
export const amountField = (tokenField: string, rule = AMOUNT): FieldRule => ({ ...rule, tokenField });
export const NATIVE_AMOUNT: FieldRule = { ...AMOUNT, tokenField: null };

export const ADDRESS: FieldRule = {
  name: 'isAddress',
  accepts: (value) => isText(value) && isAddress(value, { strict: true }) && value !== zeroAddress,
  expectation: 'an address other than zero: 0x and 40 hexadecimal digits, with a valid checksum if it has capitals',
  schema: { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$', not: { const: zeroAddress } },
};

const nameRule = (what: string): FieldRule => ({
  name: 'isName',
  accepts: (value) => isText(value) && value.length >= 1 && value.length <= 64,
  expectation: `${what}, 1 to 64 characters`,
  schema: { type: 'string', minLength: 1, maxLength: 64 },
});

export const TOKEN: FieldRule = {
  ...nameRule('a token: 0x0 for the native one, a contract address, or a symbol of the token list'),
  isToken: true,
};
export const LENDING_SYMBOL: FieldRule = {
  ...nameRule('the token of the market: a symbol of the token list or an address'),
  isToken: true,
};
export const PERPS_PRODUCT = nameRule('a product, for example "BTC-PERP"');

/** The id of an ERC-721 token or of a liquidity position. */
export const TOKEN_ID: FieldRule = {
  name: 'isTokenId',
  accepts: (value) => isText(value) && /^\d{1,78}$/.test(value) && BigInt(value) < 2n ** 256n,
  expectation: 'a whole number below 2^256 as text, in digits',
  schema: { type: 'string', pattern: '^\\d{1,78}$' },
};

/** Digits in a text become a number, so that both spellings are the same request. */
export function wholeNumber(minimum: number, maximum = Number.MAX_SAFE_INTEGER): FieldRule {
  const isBounded = maximum < Number.MAX_SAFE_INTEGER;
  return {
    name: 'isWholeNumber',
    read: (value) => (isText(value) && /^\d{1,9}$/.test(value) ? Number(value) : value),
    accepts: (value) => Number.isSafeInteger(value) && Number(value) >= minimum && Number(value) <= maximum,
    expectation: isBounded ? `a whole number from ${minimum} to ${maximum}` : `a whole number from ${minimum}`,
    schema: { type: 'integer', minimum, ...(isBounded && { maximum }) },
  };
}

export function oneOf(...values: readonly string[]): FieldRule {
  return {
    name: 'isOneOf',
    accepts: (value) => isText(value) && values.includes(value),
    expectation: `one of ${values.join(', ')}`,
    schema: { type: 'string', enum: values },
  };
}

/** Whether requests to the host are allowed is decided at the time of the request. */
export const HTTP_URL: FieldRule = {
  name: 'isHttpUrl',
  accepts: isHttpUrl,
  expectation: 'an http or https URL of at most 2048 characters, without user name and password',
  schema: { type: 'string', format: 'uri', minLength: 1, maxLength: 2048 },
};

function isHttpUrl(value: unknown): boolean {
  if (!isText(value) || value.length > 2048 || !URL.canParse(value)) return false;
  const { protocol, username, password } = new URL(value);
  return (protocol === 'https:' || protocol === 'http:') && username === '' && password === '';
}
