import type { SettleSignedPaymentRequest, SignedPaymentTerms } from '@tollgate/common';
import { isAddress, parseSignedPayment, PaymentError, type Hex, type SignedPayment } from '@tollgate/protocol';

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

export function readTextField(fields: MessageFields, name: string): string {
  const value = fields[name];
  return typeof value === 'string' && value.length <= MAX_TEXT ? value : refuseField(name);
}

export function readKey(fields: MessageFields, name: string): string {
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
export function readSignedPaymentQuestion(fields: MessageFields): SignedPaymentQuestion {
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
