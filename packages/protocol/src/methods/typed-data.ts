import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';

import type { Hex } from '../wire/hex.js';

export interface TypedField {
  name: string;
  type: string;
}

/** The input of a wallet's signature (EIP-712, `eth_signTypedData_v4`); numbers in its message are bigints. */
export interface TypedData {
  domain: { name: string; version?: string; chainId: number; verifyingContract: Hex };
  types: Record<string, readonly TypedField[]>;
  primaryType: string;
  message: Record<string, unknown>;
}

/**
 * The text of a type for hashing (EIP-712, `encodeType`); `types` lists the signed type first, then those it refers to
 * by name.
 */
export function renderTypes(types: Readonly<Record<string, readonly TypedField[]>>): string {
  return Object.entries(types)
    .map(([name, fields]) => `${name}(${fields.map((field) => `${field.type} ${field.name}`).join(',')})`)
    .join('');
}

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
