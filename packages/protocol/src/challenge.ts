import { isAddress, type Hex } from './wire/hex.js';
import { isRecord, ownField } from './wire/json-record.js';
import { PaymentError } from './wire/payment-error.js';
import { isBaseUnits, MAX_UINT256 } from './wire/token-amount.js';

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

function refuseField(field: string, expected: string): never {
  throw new PaymentError('malformed_challenge', `The payment requirement's ${field} is not ${expected}.`, {
    hint: 'The server does not speak version 1 of the payment protocol, or a proxy altered its answer.',
    details: { field },
  });
}

function parseText(value: unknown, field: string): string {
  if (typeof value !== 'string' || value.length > MAX_TEXT_LENGTH) {
    return refuseField(field, `a string of at most ${MAX_TEXT_LENGTH} characters`);
  }
  return value;
}

function parseName(value: unknown, field: string): string {
  const text = parseText(value, field);
  return text === '' ? refuseField(field, 'a non-empty string') : text;
}

function parseAddress(value: unknown, field: string): Hex {
  return isAddress(value) ? value : refuseField(field, 'a 20-byte address');
}

function parseBaseUnits(value: unknown, field: string): string {
  if (!isBaseUnits(value) || BigInt(value) > MAX_UINT256) {
    return refuseField(field, 'a decimal integer of at most 256 bits');
  }
  return value;
}

function parseSeconds(value: unknown, field: string): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0
    ? value
    : refuseField(field, 'a positive integer');
}

/**
 * Parses one element of `accepts`, for a client that will pay it. Unknown fields are dropped.
 * @throws PaymentError `malformed_challenge` naming the first invalid field.
 */
export function parsePaymentRequirement(value: unknown): PaymentRequirement {
  if (!isRecord(value)) return refuseField('value', 'an object');
  if (ownField(value, 'scheme') !== 'exact') return refuseField('scheme', '"exact"');
  const extra = ownField(value, 'extra');
  if (!isRecord(extra)) return refuseField('extra', 'an object');
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

/** The body of every 402 (specification, "PaymentChallenge"). */
export interface PaymentChallenge {
  x402Version: 1;
  accepts: PaymentRequirement[];
  /** Only when a proof was sent and refused. */
  error?: string;
}

const MAX_REQUIREMENTS = 32;

/** The challenge for one requirement; the field `error` is omitted when no proof was sent. */
export function createChallenge(requirement: PaymentRequirement, error?: string): PaymentChallenge {
  const challenge: PaymentChallenge = { x402Version: 1, accepts: [requirement] };
  return error === undefined ? challenge : { ...challenge, error };
}

function refuse(why: string, cause?: unknown): never {
  throw new PaymentError('malformed_challenge', `The payment challenge ${why}.`, {
    hint: 'The server does not speak version 1 of the payment protocol, or a proxy altered its answer.',
    cause,
  });
}

/**
 * Parses the JSON body of a 402. Requirements this library cannot pay (other schemes, missing fields) are omitted, so
 * that a server may offer more than we support.
 * @throws PaymentError `malformed_challenge` when it is not a version 1 challenge or no requirement is usable.
 */
export function parseChallenge(value: unknown): PaymentChallenge {
  if (!isRecord(value)) return refuse('is not an object');
  if (ownField(value, 'x402Version') !== 1) return refuse('is not of version 1');
  const offered = ownField(value, 'accepts');
  if (!Array.isArray(offered) || offered.length === 0) return refuse('accepts nothing');
  const accepts: PaymentRequirement[] = [];
  let problem: unknown;
  for (const candidate of offered.slice(0, MAX_REQUIREMENTS) as unknown[]) {
    try {
      accepts.push(parsePaymentRequirement(candidate));
    } catch (error) {
      problem ??= error;
    }
  }
  if (accepts.length === 0) {
    return refuse(`has no usable requirement: ${problem instanceof Error ? problem.message : 'none fits'}`, problem);
  }
  const error = ownField(value, 'error');
  return typeof error === 'string' ? { x402Version: 1, accepts, error } : { x402Version: 1, accepts };
}
