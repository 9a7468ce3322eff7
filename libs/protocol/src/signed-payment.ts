import { isAddress, isHash, isHexBytes, type Hex } from './hex.js';
import { isRecord, ownField, type JsonRecord } from './json-record.js';
import { parseHexField, parseObjectField, parseUintField, refuseField } from './signed-field.js';
import { parsePermit2Authorization, type SignedPermit } from './signed-permit.js';

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

/** An EIP-3009 transfer that its payer signed. */
export interface SignedAuthorization {
  kind: 'authorization';
  authorization: TransferAuthorization;
  /** 65 bytes of an account, any other length of a contract (EIP-1271), or wrapped for one that is not deployed (EIP-6492). */
  signature: Hex;
}

/** A payment that its payer signed and somebody else sends: nothing has moved before it is settled. */
export type SignedPayment = SignedAuthorization | SignedPermit;

/** Who signed. */
export function payerOf(payment: SignedPayment): Hex {
  return payment.kind === 'permit2' ? payment.permit2Authorization.from : payment.authorization.from;
}

/** Longest signature that is looked into: a passkey's, wrapped with the call that deploys its wallet, has some 1,500. */
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
    : refuseField('signature', `at most ${MAX_SIGNATURE_BYTES} bytes`);
}

function parsePermit(value: JsonRecord): SignedPermit {
  // It would be either, by whose reading is asked: one that is kept under the permit's nonce, and settled as the other.
  if ((ownField(value, 'authorization') ?? null) !== null) refuseField('authorization', 'left out beside a permit');
  const transfer = parsePermit2Authorization(parseObjectField(value, 'permit2Authorization'));
  const scheme = ownField(value, 'scheme');
  if (scheme !== undefined && scheme !== transfer.scheme) return refuseField('scheme', `"${transfer.scheme}"`);
  return { kind: 'permit2', ...transfer, signature: parseSignature(value) };
}

/**
 * Reads `{signature, authorization}` or `{signature, permit2Authorization}`, what payers send in every wire form. The
 * result holds known fields only, none that was inherited, hexadecimal text in lower case and numbers without leading
 * zeros: two spellings of one payment come out the same.
 * @throws PaymentError `malformed_proof` naming the first field that does not fit.
 */
export function parseSignedPayment(value: unknown): SignedPayment {
  if (!isRecord(value)) return refuseField('payload', 'an object');
  const isPermit = ownField(value, 'permit2Authorization') !== undefined;
  const kind = ownField(value, 'kind');
  const expected = isPermit ? 'permit2' : 'authorization';
  if (kind !== undefined && kind !== expected) return refuseField('kind', `"${expected}"`);
  if (isPermit) return parsePermit(value);
  return {
    kind: 'authorization',
    authorization: parseAuthorization(parseObjectField(value, 'authorization')),
    signature: parseSignature(value),
  };
}
