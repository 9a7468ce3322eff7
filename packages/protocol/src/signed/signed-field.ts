import type { Hex } from '../wire/hex.js';
import { isRecord, ownField, type JsonRecord } from '../wire/json-record.js';
import { PaymentError } from '../wire/payment-error.js';
import { MAX_UINT256 } from '../wire/token-amount.js';

const DECIMAL = /^[0-9]{1,78}$/;
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

/** Reads a uint256 as decimal text without leading zeros; `orHex` also accepts hexadecimal. */
export function parseUintField(record: JsonRecord, name: string, { orHex = false } = {}): string {
  const value = ownField(record, name);
  const expected = 'a decimal integer of at most 256 bits, as text';
  if (typeof value !== 'string') return refuseSignedField(name, expected);
  if (!DECIMAL.test(value) && !(orHex && HEXADECIMAL.test(value))) return refuseSignedField(name, expected);
  const number = BigInt(value);
  return number <= MAX_UINT256 ? number.toString() : refuseSignedField(name, expected);
}
