import { isAddress, type Hex } from './wire/hex.js';
import { isRecord, ownField } from './wire/json-record.js';
import { PaymentError } from './wire/payment-error.js';
import { MAX_UINT256 } from './wire/token-amount.js';

/** The payment that a gate accepts (specification, "PaymentRequirement"). */
export interface PaymentRequirement {
  scheme: 'exact';
  network: string;
  /** Decimal integer in base units of the asset. */
  maxAmountRequired: string;
  resource: string;
  description: string;
  mimeType: string;
  payTo: Hex;
  maxTimeoutSeconds: number;
  asset: Hex;
  extra: { name: string; version: string; reference: string };
}

const MAX_TEXT_LENGTH = 4096;
const BASE_UNITS = /^[0-9]{1,78}$/;

function refuse(field: string, expected: string): never {
  throw new PaymentError('malformed_challenge', `The payment requirement's ${field} is not ${expected}.`, {
    hint: 'The server does not speak version 1 of the payment protocol, or a proxy altered its answer.',
    details: { field },
  });
}

function parseText(value: unknown, field: string): string {
  if (typeof value !== 'string' || value.length > MAX_TEXT_LENGTH) {
    return refuse(field, `a string of at most ${MAX_TEXT_LENGTH} characters`);
  }
  return value;
}

function parseName(value: unknown, field: string): string {
  const text = parseText(value, field);
  return text === '' ? refuse(field, 'a non-empty string') : text;
}

function parseAddress(value: unknown, field: string): Hex {
  return isAddress(value) ? value : refuse(field, 'a 20-byte address');
}

function parseBaseUnits(value: unknown, field: string): string {
  if (typeof value !== 'string' || !BASE_UNITS.test(value) || BigInt(value) > MAX_UINT256) {
    return refuse(field, 'a decimal integer of at most 256 bits');
  }
  return value;
}

function parseSeconds(value: unknown, field: string): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0
    ? value
    : refuse(field, 'a positive integer');
}

/**
 * Parses one element of `accepts`, for a client that will pay it. Unknown fields are dropped.
 * @throws PaymentError `malformed_challenge` naming the first invalid field.
 */
export function parsePaymentRequirement(value: unknown): PaymentRequirement {
  if (!isRecord(value)) return refuse('value', 'an object');
  if (ownField(value, 'scheme') !== 'exact') return refuse('scheme', '"exact"');
  const extra = ownField(value, 'extra');
  if (!isRecord(extra)) return refuse('extra', 'an object');
  return {
    scheme: 'exact',
    network: parseName(ownField(value, 'network'), 'network'),
    maxAmountRequired: parseBaseUnits(ownField(value, 'maxAmountRequired'), 'maxAmountRequired'),
    resource: parseText(ownField(value, 'resource'), 'resource'),
    description: parseText(ownField(value, 'description'), 'description'),
    mimeType: parseText(ownField(value, 'mimeType'), 'mimeType'),
    payTo: parseAddress(ownField(value, 'payTo'), 'payTo'),
    maxTimeoutSeconds: parseSeconds(ownField(value, 'maxTimeoutSeconds'), 'maxTimeoutSeconds'),
    asset: parseAddress(ownField(value, 'asset'), 'asset'),
    extra: {
      name: parseText(ownField(extra, 'name'), 'extra.name'),
      version: parseText(ownField(extra, 'version'), 'extra.version'),
      reference: parseName(ownField(extra, 'reference'), 'extra.reference'),
    },
  };
}
