import { decodeBase64, encodeBase64 } from './base64.js';
import { isRecord, type JsonRecord } from './json-record.js';
import { PaymentError } from './payment-error.js';

/** Base64 of a value's JSON, for a header. */
export function encodeJsonHeader(value: object): string {
  return encodeBase64(JSON.stringify(value));
}

/**
 * Decodes the JSON object in a header: base64 in either alphabet, padded or not.
 * @throws PaymentError `malformed_proof`
 */
export function decodeJsonHeader(headerValue: string, maxLength: number): JsonRecord {
  if (headerValue.length > maxLength) return refuse(`is longer than ${maxLength} bytes`);
  const text = decodeBase64(headerValue);
  if (text === null) return refuse('is not base64 of UTF-8 text');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refuse('is not JSON', 'Send base64 of the JSON proof.');
  }
  return isRecord(value) ? value : refuse('is not a JSON object');
}

function refuse(why: string, hint?: string): never {
  throw new PaymentError('malformed_proof', `The payment proof ${why}.`, hint === undefined ? {} : { hint });
}
