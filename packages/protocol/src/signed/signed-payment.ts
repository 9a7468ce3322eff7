import { isAddress, isHash, isHexBytes, type Hex } from '../wire/hex.js';
import { isRecord, ownField, type JsonRecord } from '../wire/json-record.js';
import { parseHexField, parseObjectField, parseUintField, refuseSignedField } from './signed-field.js';
import { parsePermit2Authorization, type SignedPermit } from './signed-permit.js';

/**
 * The terms of an EIP-3009 `transferWithAuthorization` as its payer signed it. Amounts are base units, times seconds,
 * as decimal text.
 */
export interface TransferAuthorization {
  from: Hex;
  to: Hex;
  value: string;
  validAfter: string;
  validBefore: string;
  /** 32 bytes that the token accepts once per payer. */
  nonce: Hex;
}

/** An EIP-3009 transfer signed by its payer. */
export interface SignedAuthorization {
  kind: 'authorization';
  authorization: TransferAuthorization;
  /**
   * 65 bytes from an account; any other length from a contract (EIP-1271), wrapped if it is not deployed yet
   * (EIP-6492).
   */
  signature: Hex;
}

/** A payment that the payer signs and another account sends: no money moves before it is settled. */
export type SignedPayment = SignedAuthorization | SignedPermit;

/** The account that signed the payment. */
export function payerOf(payment: SignedPayment): Hex {
  return payment.kind === 'permit2' ? payment.permit2Authorization.from : payment.authorization.from;
}

/**
 * The longest signature that is parsed: one of a passkey, wrapped with the call that deploys its wallet, has some 1,500
 * bytes.
 */
export const MAX_SIGNATURE_BYTES = 4096;

function parseAuthorization(value: JsonRecord): TransferAuthorization {
  return {
    from: parseHexField(value, 'from', isAddress, 'a 20-byte address'),
    to: parseHexField(value, 'to', isAddress, 'a 20-byte address'),
    value: parseUintField(value, 'value'),
    validAfter: parseUintField(value, 'validAfter'),
    validBefore: parseUintField(value, 'validBefore'),
    nonce: parseHexField(value, 'nonce', isHash, '32 bytes'),
  };
}

function parseSignature(value: JsonRecord): Hex {
  const signature = parseHexField(value, 'signature', isHexBytes, 'hexadecimal bytes');
  return signature.length <= 2 + 2 * MAX_SIGNATURE_BYTES
    ? signature
    : refuseSignedField('signature', `at most ${MAX_SIGNATURE_BYTES} bytes`);
}

function parsePermit(value: JsonRecord): SignedPermit {
  // With both, readers could disagree which one it is: it could be claimed under the permit's nonce and settled as the
  // other.
  if ((ownField(value, 'authorization') ?? null) !== null)
    refuseSignedField('authorization', 'omitted beside a permit');
  const transfer = parsePermit2Authorization(parseObjectField(value, 'permit2Authorization'));
  const scheme = ownField(value, 'scheme');
  if (scheme !== undefined && scheme !== transfer.scheme) return refuseSignedField('scheme', `"${transfer.scheme}"`);
  return { kind: 'permit2', ...transfer, signature: parseSignature(value) };
}

/**
 * Parses `{signature, authorization}` or `{signature, permit2Authorization}`, which payers send in every wire format.
 * The result holds only known own fields, hexadecimal text in lower case and numbers without leading zeros, so all
 * spellings of one payment give the same result.
 * @throws PaymentError `malformed_proof` naming the first invalid field.
 */
export function parseSignedPayment(value: unknown): SignedPayment {
  if (!isRecord(value)) return refuseSignedField('payload', 'an object');
  const isPermit = ownField(value, 'permit2Authorization') !== undefined;
  const kind = ownField(value, 'kind');
  const expected = isPermit ? 'permit2' : 'authorization';
  if (kind !== undefined && kind !== expected) return refuseSignedField('kind', `"${expected}"`);
  if (isPermit) return parsePermit(value);
  return {
    kind: 'authorization',
    authorization: parseAuthorization(parseObjectField(value, 'authorization')),
    signature: parseSignature(value),
  };
}
