import type { Hex } from '@tollgate/protocol';

/** Of a word as contracts encode it: 32 bytes. */
export const WORD_BYTES = 32;
const WORD_DIGITS = 2 * WORD_BYTES;

/** A number as a word: hexadecimal without `0x`, as all here. */
export function encodeNumber(value: number | bigint): string {
  return value.toString(16).padStart(WORD_DIGITS, '0');
}

/** An address as a word. */
export function encodeAddress(address: Hex): string {
  return address.slice(2).padStart(WORD_DIGITS, '0');
}

/** Bytes as `bytes` has them: the word of their length, and they themselves in whole words. */
export function encodeBytes(bytes: Hex): string {
  const digits = bytes.slice(2);
  return encodeNumber(digits.length / 2) + digits.padEnd(Math.ceil(digits.length / WORD_DIGITS) * WORD_DIGITS, '0');
}
