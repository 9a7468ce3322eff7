/** Base36 digits of one 32-bit limb: 36^7 is the first power above 2^32. */
export const LIMB_DIGITS = 7;

const digitCode = (digit: number): number => (digit < 10 ? 48 + digit : 87 + digit);
// Pairs of digits as character codes: writing two at a time halves the divisions.
const PAIRS = Uint8Array.from({ length: 36 * 36 * 2 }, (_, at) => {
  const pair = at >> 1;
  return digitCode(at % 2 === 0 ? Math.floor(pair / 36) : pair % 36);
});

function writePair(pair: number, into: Uint8Array, at: number): void {
  into[at] = PAIRS[pair * 2] ?? 0;
  into[at + 1] = PAIRS[pair * 2 + 1] ?? 0;
}

/** Writes the seven base36 digits of an unsigned 32-bit integer, leading zeros included, as character codes. */
export function writeLimb(value: number, into: Uint8Array, at: number): void {
  const high = Math.floor(value / 1679616); // 36^4
  const low = value - high * 1679616;
  const highest = (high / 1296) | 0;
  const third = (low / 1296) | 0;
  into[at] = digitCode(highest);
  writePair(high - highest * 1296, into, at + 1);
  writePair(third, into, at + 3);
  writePair(low - third * 1296, into, at + 5);
}

/** The 32-bit integer of the seven lower-case base36 digits at `from`, or -1 if they are not one. */
export function readLimb(text: string, from: number): number {
  let value = 0;
  for (let at = from; at < from + LIMB_DIGITS; at += 1) {
    const code = text.charCodeAt(at);
    const digit = code >= 97 && code <= 122 ? code - 87 : code >= 48 && code <= 57 ? code - 48 : -1;
    if (digit < 0) return -1;
    value = value * 36 + digit;
  }
  return value > 0xffffffff ? -1 : value;
}
