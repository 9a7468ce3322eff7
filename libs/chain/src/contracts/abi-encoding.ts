import type { Hex } from '@tollgate/protocol';

/** Bytes in one ABI word. */
export const WORD_BYTES = 32;
const WORD_DIGITS = 2 * WORD_BYTES;

/** A number as an ABI word: hexadecimal without `0x`, like everything in this file. */
export function encodeNumber(value: number | bigint): string {
  return value.toString(16).padStart(WORD_DIGITS, '0');
}

/** An address as a word. */
export function encodeAddress(address: Hex): string {
  return address.slice(2).padStart(WORD_DIGITS, '0');
}

/** Bytes as ABI type `bytes`: a word with their length, then the bytes padded to whole words. */
export function encodeBytes(bytes: Hex): string {
  const digits = bytes.slice(2);
  return encodeNumber(digits.length / 2) + digits.padEnd(Math.ceil(digits.length / WORD_DIGITS) * WORD_DIGITS, '0');
}
