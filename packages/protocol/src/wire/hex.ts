/** A 0x-prefixed hexadecimal string. The type only promises the prefix: check input with the guards below. */
export type Hex = `0x${string}`;

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const HASH = /^0x[0-9a-fA-F]{64}$/;
const DATA = /^0x(?:[0-9a-fA-F]{2})*$/;

/** True for a 20-byte address in any letter case; the checksum is not verified. */
export const isAddress = (value: unknown): value is Hex => typeof value === 'string' && ADDRESS.test(value);

/** True for a 32-byte hash in any letter case. */
export const isHash = (value: unknown): value is Hex => typeof value === 'string' && HASH.test(value);

/** True for one or more whole bytes. */
export const isHexBytes = (value: unknown): value is Hex => isHexData(value) && value !== '0x';

/** True for any number of whole bytes, also none. */
export const isHexData = (value: unknown): value is Hex => typeof value === 'string' && DATA.test(value);

/** The one spelling by which addresses, hashes and bytes are compared and stored. */
export const lowerHex = (text: string): Hex => text.toLowerCase() as Hex;
