import { isAddress, isHash, isHexBytes, type Hex } from './hex.js';
import { isRecord, ownField, type JsonRecord } from './json-record.js';
import { PaymentError } from './payment-error.js';
import { MAX_UINT256 } from './token-amount.js';

/** An EIP-3009 `transferWithAuthorization` as its payer signed it. Amounts are base units, times seconds, as decimal text. */
export interface TransferAuthorization {
  from: Hex;
  to: Hex;
  value: string;
  validAfter: string;
  validBefore: string;
  /** 32 bytes that the token takes once per payer. */
  nonce: Hex;
}

/** A payment that its payer signed and somebody else sends: nothing has moved before it is settled. */
export interface SignedPayment {
  kind: 'authorization';
  authorization: TransferAuthorization;
  /** 65 bytes of an account, any other length of a contract (EIP-1271), or wrapped for one that is not deployed (EIP-6492). */
  signature: Hex;
}

/** Longest signature that is looked into: a passkey's, wrapped with the call that deploys its wallet, has some 1,500. */
export const MAX_SIGNATURE_BYTES = 4096;

const UINT = /^[0-9]{1,78}$/;

function refuse(field: string, expected: string): never {
  throw new PaymentError('malformed_proof', `The signed payment's ${field} is not ${expected}.`, {
    details: { field },
  });
}

function parseHex(record: JsonRecord, name: string, is: (value: unknown) => value is Hex, expected: string): Hex {
  const value = ownField(record, name);
  return is(value) ? (value.toLowerCase() as Hex) : refuse(name, expected);
}

function parseUint(record: JsonRecord, name: string): string {
  const value = ownField(record, name);
  const expected = 'a decimal integer of at most 256 bits, as text';
  if (typeof value !== 'string' || !UINT.test(value)) return refuse(name, expected);
  const number = BigInt(value);
  return number <= MAX_UINT256 ? number.toString() : refuse(name, expected);
}

function parseAuthorization(value: unknown): TransferAuthorization {
  if (!isRecord(value)) return refuse('authorization', 'an object');
  return {
    from: parseHex(value, 'from', isAddress, 'a 20-byte address'),
    to: parseHex(value, 'to', isAddress, 'a 20-byte address'),
    value: parseUint(value, 'value'),
    validAfter: parseUint(value, 'validAfter'),
    validBefore: parseUint(value, 'validBefore'),
    nonce: parseHex(value, 'nonce', isHash, '32 bytes'),
  };
}

function parseSignature(value: JsonRecord): Hex {
  const signature = parseHex(value, 'signature', isHexBytes, 'hexadecimal bytes');
  return signature.length <= 2 + 2 * MAX_SIGNATURE_BYTES
    ? signature
    : refuse('signature', `at most ${MAX_SIGNATURE_BYTES} bytes`);
}

/**
 * Reads `{signature, authorization}`, the payload that payers of scheme `exact` send in every wire form. The result
 * holds known fields only, none that was inherited, hexadecimal text in lower case and numbers without leading zeros:
 * two spellings of one payment come out the same.
 * @throws PaymentError `malformed_proof` naming the first field that does not fit.
 */
export function parseSignedPayment(value: unknown): SignedPayment {
  if (!isRecord(value)) return refuse('payload', 'an object');
  const kind = ownField(value, 'kind');
  if (kind !== undefined && kind !== 'authorization') return refuse('kind', '"authorization"');
  return {
    kind: 'authorization',
    authorization: parseAuthorization(ownField(value, 'authorization')),
    signature: parseSignature(value),
  };
}
