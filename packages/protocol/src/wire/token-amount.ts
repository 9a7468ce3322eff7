import { PaymentError } from './payment-error.js';

export const MAX_UINT256 = 2n ** 256n - 1n;

const BASE_UNITS = /^[0-9]{1,78}$/;

/** True for base units or wei as JSON has them: decimal text, with as many digits as 2^256 has. */
export const isBaseUnits = (value: unknown): value is string => typeof value === 'string' && BASE_UNITS.test(value);

/**
 * Reads a uint256 from JSON: decimal text or, as some clients write it, a number that JavaScript has exactly. Null for
 * anything else.
 */
export function readUint256(value: unknown): bigint | null {
  const text = Number.isSafeInteger(value) ? String(value) : value;
  if (!isBaseUnits(text)) return null;
  const number = BigInt(text);
  return number <= MAX_UINT256 ? number : null;
}

const DECIMAL = /^([0-9]+)(?:\.([0-9]+))?$/;
// 78 digits hold any uint256, 255 any fraction (`decimals` is a uint8): longer text is refused before BigInt parses it.
const MAX_TEXT_LENGTH = 78 + 1 + 255;

function refuse(text: unknown, why: string, hint: string): never {
  const shown = typeof text === 'string' ? text.slice(0, 80) : typeof text;
  throw new PaymentError('invalid_amount', `Token amount ${JSON.stringify(shown)} ${why}.`, {
    hint,
    details: { amount: shown },
  });
}

function assertDecimals(decimals: number): void {
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > 255) {
    throw new PaymentError('invalid_amount', `${decimals} is not a valid number of token decimals.`, {
      hint: 'Give a whole number from 0 to 255.',
    });
  }
}

/**
 * Converts a decimal amount to base units: `parseTokenAmount('0.001', 6)` is `1000n`. Exact; never rounds.
 * @throws PaymentError `invalid_amount` for a sign, an exponent, NaN, more decimals than the token has, or more than a
 * uint256.
 */
export function parseTokenAmount(text: string, decimals: number): bigint {
  assertDecimals(decimals);
  const example = 'Write digits with an optional point, for example 0.001.';
  if (typeof text !== 'string' || text.length > MAX_TEXT_LENGTH)
    return refuse(text, 'is not a decimal number', example);
  const match = DECIMAL.exec(text);
  if (!match) return refuse(text, 'is not a decimal number', example);
  const whole = match[1] ?? '0';
  const written = match[2] ?? '';
  const fraction = written.slice(0, decimals);
  // Zeros after the smallest unit change nothing.
  if (/[1-9]/.test(written.slice(decimals))) {
    return refuse(
      text,
      `has more than ${decimals} decimals`,
      `The smallest unit of this token has ${decimals} decimals.`,
    );
  }
  const baseUnits = BigInt(whole + fraction.padEnd(decimals, '0'));
  if (baseUnits > MAX_UINT256)
    return refuse(text, 'does not fit into 256 bits', 'The largest token amount is 2^256 - 1 base units.');
  return baseUnits;
}

/**
 * Converts base units to decimal text without trailing zeros: `formatTokenAmount(1000n, 6)` is `'0.001'`.
 * @throws PaymentError `invalid_amount` for a negative number.
 */
export function formatTokenAmount(baseUnits: bigint, decimals: number): string {
  assertDecimals(decimals);
  if (baseUnits < 0n) return refuse(String(baseUnits), 'is negative', 'The smallest token amount is 0.');
  const digits = baseUnits.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** The same for a sum, such as a balance, which may be negative: `formatTokenSum(-1000n, 6)` is `'-0.001'`. */
export function formatTokenSum(baseUnits: bigint, decimals: number): string {
  return baseUnits < 0n ? `-${formatTokenAmount(-baseUnits, decimals)}` : formatTokenAmount(baseUnits, decimals);
}
