import { parsePaymentRequirement, type PaymentRequirement } from './requirement.js';
import { isRecord, ownField } from './wire/json-record.js';
import { PaymentError } from './wire/payment-error.js';

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
