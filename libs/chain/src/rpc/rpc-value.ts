import { isAddress, isHash, isHexData, isRecord, lowerHex, type Hex, type JsonRecord } from '@tollgate/protocol';

import { ChainUnavailableError } from './chain-unavailable-error.js';

/** Rejects an invalid answer: the chain counts as unavailable. */
export function malformed(what: string): never {
  throw new ChainUnavailableError('rpc_malformed', `The RPC server's answer has ${what}.`);
}

const QUANTITY = /^0x[0-9a-fA-F]{1,13}$/;
const BIG_QUANTITY = /^0x[0-9a-fA-F]{1,64}$/;

export function parseObject(value: unknown, name: string): JsonRecord {
  return isRecord(value) ? value : malformed(`no ${name} object`);
}

/** A number as a hexadecimal quantity. */
export function toQuantity(value: number | bigint): Hex {
  return `0x${value.toString(16)}`;
}

/** Parses a hexadecimal quantity that fits a JavaScript number (block numbers, indexes, seconds). */
export function parseQuantity(value: unknown, name: string): number {
  if (typeof value !== 'string' || !QUANTITY.test(value)) return malformed(`a ${name} that is not a quantity`);
  return Number.parseInt(value, 16);
}

/** Parses a hexadecimal quantity of up to 256 bits (wei). */
export function parseBigQuantity(value: unknown, name: string): bigint {
  if (typeof value !== 'string' || !BIG_QUANTITY.test(value)) return malformed(`a ${name} that is not a quantity`);
  return BigInt(value);
}

/** Parses 32 bytes, to lower case. */
export function parseHash(value: unknown, name: string): Hex {
  return isHash(value) ? lowerHex(value) : malformed(`a ${name} that is not a hash`);
}

/** Parses 20 bytes, to lower case. */
export function parseAddress(value: unknown, name: string): Hex {
  return isAddress(value) ? lowerHex(value) : malformed(`a ${name} that is not an address`);
}

/** Parses any whole number of bytes (also none), to lower case. */
export function parseData(value: unknown, name: string): Hex {
  return isHexData(value) ? lowerHex(value) : malformed(`a ${name} that is not data`);
}

/** Estimates the length in bytes of a JSON value as written; names and punctuation are approximated. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 4;
  let bytes = 2;
  for (const part of Object.values(value)) bytes += ENTRY_BYTES + sizeOf(part);
  return bytes;
}

/** For a name, its quotes, a colon and a comma. */
const ENTRY_BYTES = 16;
