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
export const wordOfNumber = (value: string | number | bigint): string => BigInt(value).toString(16).padStart(64, '0');

export const wordOfAddress = (address: Hex): string => address.slice(2).padStart(64, '0');

/** The hash to sign: of a struct under a domain separator. */
export const hashTypedData = (domainSeparator: Hex, structHash: string): Hex =>
  `0x${hashWords('1901', domainSeparator.slice(2), structHash)}`;

const DOMAIN_FIELDS: readonly TypedField[] = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
];

/** The hash that a wallet signs of typed data: its domain and its message are hashed too. */
export function hashWholeTypedData({ domain, types, primaryType, message }: TypedData): Hex {
  const EIP712Domain = DOMAIN_FIELDS.filter(({ name }) => name in domain);
  return hashTypedData(
    `0x${hashStruct('EIP712Domain', domain, { EIP712Domain })}`,
    hashStruct(primaryType, message, types),
  );
}

function hashStruct(name: string, values: object, types: TypedData['types']): string {
  const own = types[name] ?? [];
  const others = Object.keys(types).filter((type) => own.some((field) => field.type === type));
  const rendered = renderTypes(Object.fromEntries([name, ...others.sort()].map((type) => [type, types[type] ?? []])));
  const words = own.map(({ name: field, type }) => wordOf(type, (values as Record<string, unknown>)[field], types));
  return hashWords(hashText(rendered), ...words);
}

/** The word of a field: a struct whose fields are no structs, a text, a number, or what is hexadecimal already. */
function wordOf(type: string, value: unknown, types: TypedData['types']): string {
  if (type in types) return hashStruct(type, value as object, types);
  if (type === 'string') return hashText(value as string);
  return type === 'uint256' ? wordOfNumber(value as bigint) : wordOfAddress(value as Hex);
}
