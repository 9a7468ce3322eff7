import type { VerifyPaymentRequest } from '@tollgate/common';
import { isAddress, isHash, isHexBytes, type Hex } from '@tollgate/protocol';

/** The message does not have the shape of its version: a verifier or gateway of another release, or no gateway. */
export class MalformedMessageError extends Error {
  override readonly name = 'MalformedMessageError';
}

const BASE_UNITS = /^\d{1,78}$/;
/** What the ledger takes as a key. */
const KEY = /^[\w-]{1,64}$/;
const MAX_TEXT = 1024;
/** Four times a proof header: no signature in one can be longer. */
const MAX_SIGNATURE = 32_768;

type Fields = Record<string, unknown>;

/** Unknown to a request with addresses and hashes in lower case, or throws MalformedMessageError. */
export function parseVerifyPaymentRequest(message: unknown): VerifyPaymentRequest {
  const fields = object(message, 'message');
  const { reference, signature } = fields;
  return {
    requestId: text(fields, 'requestId'),
    owner: key(fields, 'owner'),
    deadlineMs: number(fields, 'deadlineMs'),
    network: text(fields, 'network'),
    chainId: number(fields, 'chainId'),
    asset: hex(fields, 'asset', isAddress),
    payTo: hex(fields, 'payTo', isAddress),
    priceBaseUnits: baseUnits(fields),
    txHash: hex(fields, 'txHash', isHash),
    ...(isAbsent(reference) ? {} : { reference: parseReference(reference) }),
    ...(isAbsent(signature) ? {} : { signature: parseSignature(fields) }),
    fingerprint: key(fields, 'fingerprint'),
    retryKey: fields.retryKey === null ? null : key(fields, 'retryKey'),
    leaseMs: number(fields, 'leaseMs'),
    clientAddress: text(fields, 'clientAddress'),
  };
}

function parseReference(value: unknown): NonNullable<VerifyPaymentRequest['reference']> {
  const fields = object(value, 'reference');
  return {
    text: text(fields, 'text'),
    issuedAtMs: number(fields, 'issuedAtMs'),
    priceBaseUnits: baseUnits(fields),
  };
}

function parseSignature(fields: Fields): Hex {
  const signature = hex(fields, 'signature', isHexBytes);
  return signature.length <= MAX_SIGNATURE ? signature : refuse('signature');
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null;

function refuse(name: string): never {
  throw new MalformedMessageError(`The message's "${name}" is missing or malformed.`);
}

function object(value: unknown, name: string): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : refuse(name);
}

function text(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === 'string' && value.length <= MAX_TEXT ? value : refuse(name);
}

function key(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === 'string' && KEY.test(value) ? value : refuse(name);
}

function number(fields: Fields, name: string): number {
  const value = fields[name];
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : refuse(name);
}

function baseUnits(fields: Fields): string {
  const value = fields.priceBaseUnits;
  return typeof value === 'string' && BASE_UNITS.test(value) ? value : refuse('priceBaseUnits');
}

function hex(fields: Fields, name: string, is: (value: unknown) => value is Hex): Hex {
  const value = fields[name];
  return is(value) ? (value.toLowerCase() as Hex) : refuse(name);
}
