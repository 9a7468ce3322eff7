/** Base36 digits of one 32-bit limb: 36^7 is the first power above 2^32. */
export const LIMB_DIGITS = 7;

const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyz';
// Two digits at a time: a third of the divisions and concatenations of one at a time.
const PAIRS = Array.from(
  { length: 36 * 36 },
  (_, pair) => DIGITS.charAt(Math.floor(pair / 36)) + DIGITS.charAt(pair % 36),
);

/** Seven base36 digits of an unsigned 32-bit integer, leading zeros included. */
export function encodeLimb(value: number): string {
  const high = Math.floor(value / 1679616); // 36^4
  const low = value - high * 1679616;
  const highest = (high / 1296) | 0;
  const third = (low / 1296) | 0;
  return DIGITS.charAt(highest) + PAIRS[high - highest * 1296] + PAIRS[third] + PAIRS[low - third * 1296];
}

/** The 32-bit integer of the seven lower-case base36 digits at `from`, or -1 when there is none. */
export function decodeLimb(text: string, from: number): number {
  let value = 0;
  for (let at = from; at < from + LIMB_DIGITS; at += 1) {
    const code = text.charCodeAt(at);
    const digit = code >= 97 && code <= 122 ? code - 87 : code >= 48 && code <= 57 ? code - 48 : -1;
    if (digit < 0) return -1;
    value = value * 36 + digit;
  }
  return value > 0xffffffff ? -1 : value;
}
