import {
  isAddress,
  isHash,
  isHexBytes,
  type Hex,
  MAX_SIGNATURE_BYTES,
  parseSignedPayment,
  PaymentError,
  type SignedPayment,
} from '@tollgate/protocol';
import type {
  VerifyPaymentRequest,
  VerifySignedPaymentRequest,
  VerifyContractSignatureRequest,
  VerifyLockRequest,
  SettleSignedPaymentRequest,
  SignedPaymentTerms,
  PaymentSimulation,
} from '@tollgate/transport';

/** Four times the size of a proof header, so no signature in one can be longer. */
const MAX_SIGNATURE = 32_768;

/** Parses a message into a request with addresses and hashes in lower case. @throws MalformedMessageError */
export function parseVerifyPaymentRequest(message: unknown): VerifyPaymentRequest {
  const fields = readObject(message, 'message');
  const { reference, signature } = fields;
  return {
    requestId: readTextField(fields, 'requestId'),
    owner: readKey(fields, 'owner'),
    deadlineMs: readNumber(fields, 'deadlineMs'),
    network: readTextField(fields, 'network'),
    chainId: readNumber(fields, 'chainId'),
    asset: readHex(fields, 'asset', isAddress),
    payTo: readHex(fields, 'payTo', isAddress),
    priceBaseUnits: readBaseUnits(fields, 'priceBaseUnits'),
    txHash: readHex(fields, 'txHash', isHash),
    ...(isAbsent(reference) ? {} : { reference: parseReference(reference) }),
    ...(isAbsent(signature) ? {} : { signature: parseSignature(fields) }),
    fingerprint: readKey(fields, 'fingerprint'),
    retryKey: fields.retryKey === null ? null : readKey(fields, 'retryKey'),
    ...(fields.keyReserves === false && { keyReserves: false }),
    leaseMs: readNumber(fields, 'leaseMs'),
    clientAddress: readTextField(fields, 'clientAddress'),
  };
}

function parseReference(value: unknown): NonNullable<VerifyPaymentRequest['reference']> {
  const fields = readObject(value, 'reference');
  return {
    text: readTextField(fields, 'text'),
    issuedAtMs: readNumber(fields, 'issuedAtMs'),
    priceBaseUnits: readBaseUnits(fields, 'priceBaseUnits'),
  };
}

function parseSignature(fields: MessageFields): Hex {
  const signature = readHex(fields, 'signature', isHexBytes);
  return signature.length <= MAX_SIGNATURE ? signature : refuseField('signature');
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null;

/** Parses a message into a request with hexadecimal text in lower case. @throws MalformedMessageError */
export function parseVerifySignedPaymentRequest(message: unknown): VerifySignedPaymentRequest {
  const fields = readObject(message, 'message');
  return {
    ...readSignedPaymentQuestion(fields),
    clientAddress: readTextField(fields, 'clientAddress'),
    ...(isAbsent(fields.validForMs) ? {} : { validForMs: readNumber(fields, 'validForMs') }),
    claim: fields.claim === null ? null : parseClaim(fields.claim),
  };
}

function parseClaim(value: unknown): NonNullable<VerifySignedPaymentRequest['claim']> {
  const claim = readObject(value, 'claim');
  return {
    owner: readKey(claim, 'owner'),
    fingerprint: readKey(claim, 'fingerprint'),
    retryKey: claim.retryKey === null ? null : readKey(claim, 'retryKey'),
    leaseMs: readNumber(claim, 'leaseMs'),
    ...(claim.mustBeSettled === true && { mustBeSettled: true }),
  };
}

/** Parses a message into a request with addresses and hashes in lower case. @throws MalformedMessageError */
export function parseSettleRequest(message: unknown): SettleSignedPaymentRequest {
  const fields = readObject(message, 'message');
  return {
    ...readSignedPaymentQuestion(fields),
    amountBaseUnits: readBaseUnits(fields, 'amountBaseUnits'),
    ...(fields.simulation === undefined ? {} : { simulation: parseSimulation(fields.simulation) }),
  };
}

function parseSimulation(value: unknown): PaymentSimulation {
  const fields = readObject(value, 'simulation');
  return { atMs: readNumber(fields, 'atMs'), balanceBaseUnits: readBaseUnits(fields, 'balanceBaseUnits') };
}

/** Parses a message into a request with hexadecimal text in lower case. @throws MalformedMessageError */
export function parseContractSignatureRequest(message: unknown): VerifyContractSignatureRequest {
  const fields = readObject(message, 'message');
  const signature = readHex(fields, 'signature', isHexBytes);
  return {
    requestId: readTextField(fields, 'requestId'),
    deadlineMs: readNumber(fields, 'deadlineMs'),
    chainId: readNumber(fields, 'chainId'),
    signer: readHex(fields, 'signer', isAddress),
    hash: readHex(fields, 'hash', isHash),
    clientAddress: readTextField(fields, 'clientAddress'),
    signature: signature.length <= 2 + 2 * MAX_SIGNATURE_BYTES ? signature : refuseField('signature'),
  };
}

/** Parses a message into a request with hexadecimal text in lower case. @throws MalformedMessageError */
export function parseVerifyLockRequest(message: unknown): VerifyLockRequest {
  const fields = readObject(message, 'message');
  return {
    requestId: readTextField(fields, 'requestId'),
    deadlineMs: readNumber(fields, 'deadlineMs'),
    chainId: readNumber(fields, 'chainId'),
    asset: readHex(fields, 'asset', isAddress),
    payTo: readHex(fields, 'payTo', isAddress),
    priceBaseUnits: readBaseUnits(fields, 'priceBaseUnits'),
    txHash: readHex(fields, 'txHash', isHash),
    lock: readHex(fields, 'lock', isHash),
    clientAddress: readTextField(fields, 'clientAddress'),
  };
}

/**
 * The message does not have the shape of its version. Its sender is a gateway or verifier of another release, or
 * neither.
 */
export class MalformedMessageError extends Error {
  override readonly name = 'MalformedMessageError';
}

export type MessageFields = Record<string, unknown>;

type SignedPaymentQuestion = Pick<SettleSignedPaymentRequest, 'requestId' | 'deadlineMs' | 'terms' | 'payment'>;

const BASE_UNITS = /^\d{1,78}$/;
/** The format of keys that the ledger accepts. */
const KEY = /^[\w-]{1,64}$/;
const MAX_TEXT = 1024;

/** Throws an error that names the missing or malformed field of a message. */
export function refuseField(name: string): never {
  throw new MalformedMessageError(`The message's "${name}" is missing or malformed.`);
}

export function readObject(value: unknown, name: string): MessageFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as MessageFields)
    : refuseField(name);
}

function readTextField(fields: MessageFields, name: string): string {
  const value = fields[name];
  return typeof value === 'string' && value.length <= MAX_TEXT ? value : refuseField(name);
}

function readKey(fields: MessageFields, name: string): string {
  const value = fields[name];
  return typeof value === 'string' && KEY.test(value) ? value : refuseField(name);
}

export function readNumber(fields: MessageFields, name: string): number {
  const value = fields[name];
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : refuseField(name);
}

/** An amount as decimal text. */
export function readBaseUnits(fields: MessageFields, name: string): string {
  const value = fields[name];
  return typeof value === 'string' && BASE_UNITS.test(value) ? value : refuseField(name);
}

/** Hexadecimal text, in lower case. */
export function readHex(fields: MessageFields, name: string, is: (value: unknown) => value is Hex): Hex {
  const value = fields[name];
  return is(value) ? (value.toLowerCase() as Hex) : refuseField(name);
}

/** The fields that every question about a signed payment has. */
function readSignedPaymentQuestion(fields: MessageFields): SignedPaymentQuestion {
  return {
    requestId: readTextField(fields, 'requestId'),
    deadlineMs: readNumber(fields, 'deadlineMs'),
    terms: readTerms(fields),
    payment: readSignedPayment(fields),
  };
}

function readTerms(fields: MessageFields): SignedPaymentTerms {
  const terms = readObject(fields.terms, 'terms');
  return {
    chainId: readNumber(terms, 'chainId'),
    asset: readHex(terms, 'asset', isAddress),
    assetName: readTextField(terms, 'assetName'),
    assetVersion: readTextField(terms, 'assetVersion'),
    payTo: readHex(terms, 'payTo', isAddress),
    priceBaseUnits: readBaseUnits(terms, 'priceBaseUnits'),
  };
}

function readSignedPayment({ payment }: MessageFields): SignedPayment {
  try {
    return parseSignedPayment(payment);
  } catch (error) {
    if (error instanceof PaymentError) throw new MalformedMessageError(error.message);
    throw error;
  }
}
