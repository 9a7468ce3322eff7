import type { Share } from './intent.js';

const DECIMAL = /^(\d{1,78})(?:\.(\d{1,77}))?$/;

/**
 * The decimal text of a part of a decimal amount, rounded down to `decimals`: half of `12.5` is `6.25`. Exact, with big
 * integers; null where the amount is no decimal text, or nothing of it is left.
 */
export function shareAmount(amount: string, share: Share, decimals: number, keepBack = '0'): string | null {
  const [whole, kept] = [parseScaled(amount, decimals), parseScaled(keepBack, decimals)];
  if (whole === null || kept === null) return null;
  const part = (whole * share.numerator) / share.denominator;
  const most = whole > kept ? whole - kept : 0n;
  const result = part < most ? part : most;
  return result === 0n ? null : formatScaled(result, decimals);
}

/** The difference of two decimal amounts, or null where it is not more than nothing. */
export function subtractAmounts(amount: string, less: string): string | null {
  const decimals = Math.max(...[amount, less].map((text) => text.split('.')[1]?.length ?? 0));
  const [whole, taken] = [parseScaled(amount, decimals), parseScaled(less, decimals)];
  return whole === null || taken === null || whole <= taken ? null : formatScaled(whole - taken, decimals);
}

function parseScaled(text: string, decimals: number): bigint | null {
  const match = DECIMAL.exec(text);
  if (!match) return null;
  return BigInt((match[1] ?? '') + (match[2] ?? '').slice(0, decimals).padEnd(decimals, '0'));
}

function formatScaled(scaled: bigint, decimals: number): string {
  const digits = scaled.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}
