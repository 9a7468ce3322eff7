import { decodeBase64, encodeBase64 } from './base64.js';
import { isRecord, type JsonRecord } from './json-record.js';
import { PaymentError } from './payment-error.js';

/** No header of a protocol is nested as deep; writing a much deeper value again as JSON exhausts the stack. */
const MAX_DEPTH = 64;

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
  if (!isRecord(value)) return refuse('is not a JSON object');
  return isDeeperThan(MAX_DEPTH, value) ? refuse(`is nested more than ${MAX_DEPTH} deep`) : value;
}

function isDeeperThan(depth: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth === 0 || Object.values(value).some((inner) => isDeeperThan(depth - 1, inner));
}

function refuse(why: string, hint?: string): never {
  throw new PaymentError('malformed_proof', `The payment proof ${why}.`, hint === undefined ? {} : { hint });
}
