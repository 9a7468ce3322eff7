import { isAddress, isHash, isHexBytes, type Hex } from '@tollgate/protocol';

/** The chain could not be read, or the answer is not usable: decide nothing from it. Its message names no RPC URL. */
export class ChainUnavailableError extends Error {
  override readonly name = 'ChainUnavailableError';
}

const QUANTITY = /^0x[0-9a-fA-F]{1,64}$/;

function malformed(name: string): never {
  throw new ChainUnavailableError(`The RPC server's answer has no usable ${name}.`);
}

export function parseObject(value: unknown, name: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return malformed(name);
  return value as Record<string, unknown>;
}

/** A hexadecimal quantity of any size up to 256 bits. */
export function parseBigQuantity(value: unknown, name: string): bigint {
  return typeof value === 'string' && QUANTITY.test(value) ? BigInt(value) : malformed(name);
}

/** A hexadecimal quantity that fits a JavaScript number exactly: nonces, block numbers. */
export function parseQuantity(value: unknown, name: string): number {
  const quantity = Number(parseBigQuantity(value, name));
  return Number.isSafeInteger(quantity) ? quantity : malformed(name);
}

/** 32 bytes, in lower case. */
export function parseHash(value: unknown, name: string): Hex {
  return isHash(value) ? lowerCase(value) : malformed(name);
}

/** 20 bytes, in lower case. */
export function parseAddress(value: unknown, name: string): Hex {
  return isAddress(value) ? lowerCase(value) : malformed(name);
}

/** Any number of whole bytes, in lower case. */
export function parseData(value: unknown, name: string): Hex {
  if (value === '0x') return value;
  return isHexBytes(value) ? lowerCase(value) : malformed(name);
}

function lowerCase(value: Hex): Hex {
  return value.toLowerCase() as Hex;
}
