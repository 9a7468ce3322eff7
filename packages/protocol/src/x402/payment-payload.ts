import type { SignedPayment } from '../methods/registry.js';
import { parseSignedPayment } from '../methods/signed-payment.js';
import { isRecord, ownField, type JsonRecord } from '../wire/json-record.js';
import { PaymentError } from '../wire/payment-error.js';
import { parseRequirementTerms, type RequirementTerms } from './requirements.js';

/** A payment as published clients send it, in `X-PAYMENT` (x402 version 1) or `PAYMENT-SIGNATURE` (version 2). */
export type PaymentPayload = PaymentPayloadV1 | PaymentPayloadV2;

export interface PaymentPayloadV1 {
  readonly version: 1;
  readonly scheme: string;
  readonly network: string;
  readonly payment: SignedPayment;
}

export interface PaymentPayloadV2 extends EnvelopeV2 {
  readonly version: 2;
  readonly scheme: string;
  readonly network: string;
  readonly payment: SignedPayment;
}

/** The fields beside the payload in x402 version 2. */
export interface EnvelopeV2 {
  /** The requirement that the client says it accepted; the gate checks against its own. */
  readonly accepted: RequirementTerms;
  /** `accepted.extra` as sent back, not parsed. */
  readonly acceptedExtra: JsonRecord;
  readonly extensions: JsonRecord;
}

/**
 * Parses the decoded JSON of a payment of either x402 version. Of scheme and network, it only checks that they are
 * present.
 * @throws PaymentError `malformed_proof` or `wrong_version`
 */
export function parsePaymentPayload(value: unknown): PaymentPayload {
  if (!isRecord(value)) throw new PaymentError('malformed_proof', 'The payment is not a JSON object.');
  const version = ownField(value, 'x402Version');
  if (version === 1) return parseV1(value);
  if (version === 2) return parseV2(value);
  throw new PaymentError('wrong_version', 'The payment has neither x402Version 1 nor 2.');
}

function parseV1(value: JsonRecord): PaymentPayloadV1 {
  const [scheme, network] = [ownField(value, 'scheme'), ownField(value, 'network')];
  if (typeof scheme !== 'string' || typeof network !== 'string') {
    throw new PaymentError('malformed_proof', 'The payment has no scheme or no network.');
  }
  return { version: 1, scheme, network, payment: parseSignedPayment(ownField(value, 'payload')) };
}

function parseV2(value: JsonRecord): PaymentPayloadV2 {
  const envelope = parseEnvelope(value);
  const { scheme, network } = envelope.accepted;
  return { version: 2, scheme, network, payment: parseSignedPayment(ownField(value, 'payload')), ...envelope };
}

/**
 * Parses the fields beside the payload in x402 version 2.
 * @throws PaymentError `malformed_proof`
 */
export function parseEnvelope(value: JsonRecord): EnvelopeV2 {
  const [record, extensions] = [ownField(value, 'accepted'), ownField(value, 'extensions')];
  const accepted = parseAccepted(record);
  const extra = isRecord(record) ? ownField(record, 'extra') : undefined;
  return {
    accepted,
    acceptedExtra: isRecord(extra) ? extra : {},
    extensions: isRecord(extensions) ? extensions : {},
  };
}

function parseAccepted(record: unknown): RequirementTerms {
  try {
    return parseRequirementTerms(record, 2);
  } catch (cause) {
    throw new PaymentError('malformed_proof', "The payment's `accepted` is not a payment requirement.", { cause });
  }
}
