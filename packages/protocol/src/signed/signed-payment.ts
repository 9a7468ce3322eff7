import { isAddress, isHash, isHexBytes, type Hex } from '../wire/hex.js';
import { isRecord, ownField, type JsonRecord } from '../wire/json-record.js';
import { PaymentError } from '../wire/payment-error.js';
import { readUint256 } from '../wire/token-amount.js';

const HEXADECIMAL = /^0x[0-9a-fA-F]{1,64}$/;

/** Refuses a signed payment because of one field. */
function refuseSignedField(field: string, expected: string): never {
  throw new PaymentError('malformed_proof', `The signed payment's ${field} is not ${expected}.`, {
    details: { field },
  });
}

/** Reads an object field of a signed payment. */
function parseObjectField(record: JsonRecord, name: string): JsonRecord {
  const value = ownField(record, name);
  return isRecord(value) ? value : refuseSignedField(name, 'an object');
}

/** Reads a hexadecimal field, to lower case. */
function parseHexField(record: JsonRecord, name: string, is: (value: unknown) => value is Hex, expected: string): Hex {
  const value = ownField(record, name);
  return is(value) ? (value.toLowerCase() as Hex) : refuseSignedField(name, expected);
}

function parseAddress(record: JsonRecord, name: string): Hex {
  return parseHexField(record, name, isAddress, 'a 20-byte address');
}

/** Reads a uint256, to decimal text without leading zeros; `orHex` also accepts hexadecimal. */
function parseUintField(record: JsonRecord, name: string, { orHex = false } = {}): string {
  const value = ownField(record, name);
  const isHexadecimal = orHex && typeof value === 'string' && HEXADECIMAL.test(value);
  const number = isHexadecimal ? BigInt(value) : readUint256(value);
  return number?.toString() ?? refuseSignedField(name, 'a decimal integer of at most 256 bits, as text');
}

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

/** Permit2, at the same address on every chain that has it. In lower case, like the proxies below. */
export const PERMIT2_ADDRESS: Hex = '0x000000000022d473030f116ddee9f6b43ac78ba3';
/** The contract that settles permits of scheme `exact`: the whole permitted amount, to the signed recipient. */
export const EXACT_PROXY_ADDRESS: Hex = '0x402085c248eea27d92e8b30b2c58ed07f9e20001';
/** The contract that settles permits of scheme `upto`: at most the permitted amount, sent by the signed facilitator. */
export const UPTO_PROXY_ADDRESS: Hex = '0x4020a4f3b7b90cca423b9fabcc0ce57c6c240002';

/**
 * The terms of a Permit2 `permitWitnessTransferFrom` as its payer signed it for a proxy. Amounts are base units, times
 * seconds, as decimal text.
 */
export interface Permit2Authorization {
  from: Hex;
  /** The most that may be moved; under scheme `exact` the amount that is moved. */
  permitted: { token: Hex; amount: string };
  /** The proxy, the only contract from which Permit2 accepts the permit. */
  spender: Hex;
  /** A 256-bit number that Permit2 accepts once per payer, in any order. */
  nonce: string;
  deadline: string;
  /** What the proxy enforces: the recipient, and the start of validity. */
  witness: { to: Hex; validAfter: string };
}

/** A permit of scheme `upto`, whose witness also names the only account that may send it. */
export interface MeteredPermit2Authorization extends Permit2Authorization {
  witness: Permit2Authorization['witness'] & { facilitator: Hex };
}

/** A Permit2 transfer by its scheme: of the whole permitted amount, or of what was used. */
export type Permit2Transfer =
  | { scheme: 'exact'; permit2Authorization: Permit2Authorization }
  | { scheme: 'upto'; permit2Authorization: MeteredPermit2Authorization };

/**
 * A signed Permit2 transfer; its signature has 65 bytes from an account, any other length from a contract (EIP-1271).
 */
export type SignedPermit = { kind: 'permit2'; signature: Hex } & Permit2Transfer;

/** A payment that the payer signs and another account sends: no money moves before it is settled. */
export type SignedPayment = SignedAuthorization | SignedPermit;

/** The account that signed the payment. */
export function payerOf(payment: SignedPayment): Hex {
  return payment.kind === 'permit2' ? payment.permit2Authorization.from : payment.authorization.from;
}

/** The account that it pays. */
export function recipientOf(payment: SignedPayment): Hex {
  return payment.kind === 'permit2' ? payment.permit2Authorization.witness.to : payment.authorization.to;
}

/** The amount in base units; the most that may be moved where the payment is metered. */
export function signedAmountOf(payment: SignedPayment): string {
  return payment.kind === 'permit2' ? payment.permit2Authorization.permitted.amount : payment.authorization.value;
}

/**
 * The longest signature that is parsed: one of a passkey, wrapped with the call that deploys its wallet, has some 1,500
 * bytes.
 */
export const MAX_SIGNATURE_BYTES = 4096;

function parseAuthorization(value: JsonRecord): TransferAuthorization {
  return {
    from: parseAddress(value, 'from'),
    to: parseAddress(value, 'to'),
    value: parseUintField(value, 'value'),
    validAfter: parseUintField(value, 'validAfter'),
    validBefore: parseUintField(value, 'validBefore'),
    nonce: parseHexField(value, 'nonce', isHash, '32 bytes'),
  };
}

/**
 * Parses a `permit2Authorization`. Only a witness of scheme `upto` names a facilitator, so the witness determines the
 * scheme.
 * @throws PaymentError `malformed_proof` naming the first invalid field.
 */
export function parsePermit2Authorization(value: JsonRecord): Permit2Transfer {
  const permitted = parseObjectField(value, 'permitted');
  const witness = parseObjectField(value, 'witness');
  const permit2Authorization: Permit2Authorization = {
    from: parseAddress(value, 'from'),
    permitted: { token: parseAddress(permitted, 'token'), amount: parseUintField(permitted, 'amount') },
    spender: parseAddress(value, 'spender'),
    // Clients use both notations.
    nonce: parseUintField(value, 'nonce', { orHex: true }),
    deadline: parseUintField(value, 'deadline'),
    witness: { to: parseAddress(witness, 'to'), validAfter: parseUintField(witness, 'validAfter') },
  };
  if (ownField(witness, 'facilitator') === undefined) return { scheme: 'exact', permit2Authorization };
  const facilitator = parseAddress(witness, 'facilitator');
  const metered = { ...permit2Authorization, witness: { ...permit2Authorization.witness, facilitator } };
  return { scheme: 'upto', permit2Authorization: metered };
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
