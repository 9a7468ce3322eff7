import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';

import type { Hex } from '../wire/hex.js';

/** Words are 64 hexadecimal digits without a prefix. */
export const hashText = (text: string): string => bytesToHex(keccak_256(utf8ToBytes(text)));

/** keccak256 of the concatenated words. */
export const hashWords = (...words: string[]): string => bytesToHex(keccak_256(hexToBytes(words.join(''))));

/** A natural number of at most 256 bits. */
export const wordOfNumber = (value: string | number): string => BigInt(value).toString(16).padStart(64, '0');

export const wordOfAddress = (address: Hex): string => address.slice(2).padStart(64, '0');

/** The hash to sign: of a struct under a domain separator. */
export const hashTypedData = (domainSeparator: Hex, structHash: string): Hex =>
  `0x${hashWords('1901', domainSeparator.slice(2), structHash)}`;
