import { isAddress, isHexBytes, type Hex } from '../wire/hex.js';
import { isRecord, ownField, type JsonRecord } from '../wire/json-record.js';
import { PaymentError } from '../wire/payment-error.js';
import { readUint256 } from '../wire/token-amount.js';

const HEXADECIMAL = /^0x[0-9a-fA-F]{1,64}$/;

/** Refuses a signed payment because of one field. */
export function refuseSignedField(field: string, expected: string): never {
  throw new PaymentError('malformed_proof', `The signed payment's ${field} is not ${expected}.`, {
    details: { field },
  });
}

/** Reads an object field of a signed payment. */
export function parseObjectField(record: JsonRecord, name: string): JsonRecord {
  const value = ownField(record, name);
  return isRecord(value) ? value : refuseSignedField(name, 'an object');
}

/** Reads a hexadecimal field, to lower case. */
export function parseHexField(
  record: JsonRecord,
  name: string,
  is: (value: unknown) => value is Hex,
  expected: string,
): Hex {
  const value = ownField(record, name);
  return is(value) ? (value.toLowerCase() as Hex) : refuseSignedField(name, expected);
}

export function parseAddressField(record: JsonRecord, name: string): Hex {
  return parseHexField(record, name, isAddress, 'a 20-byte address');
}

/** Reads a uint256, to decimal text without leading zeros; `orHex` also accepts hexadecimal. */
export function parseUintField(record: JsonRecord, name: string, { orHex = false } = {}): string {
  const value = ownField(record, name);
  const isHexadecimal = orHex && typeof value === 'string' && HEXADECIMAL.test(value);
  const number = isHexadecimal ? BigInt(value) : readUint256(value);
  return number?.toString() ?? refuseSignedField(name, 'a decimal integer of at most 256 bits, as text');
}

/**
 * The longest signature that is parsed: one of a passkey, wrapped with the call that deploys its wallet, has some 1,500
 * bytes.
 */
export const MAX_SIGNATURE_BYTES = 4096;

export function parseSignatureField(value: JsonRecord): Hex {
  const signature = parseHexField(value, 'signature', isHexBytes, 'hexadecimal bytes');
  return signature.length <= 2 + 2 * MAX_SIGNATURE_BYTES
    ? signature
    : refuseSignedField('signature', `at most ${MAX_SIGNATURE_BYTES} bytes`);
}
