import { refuseRequest } from '@tollgate/http';
import {
  isRecord,
  ownField,
  parsePaymentPayload,
  parseRequirementTerms,
  PaymentError,
  type JsonRecord,
  type PaymentFailure,
  type PaymentPayload,
  type RequirementTerms,
} from '@tollgate/protocol';

import { isPaymentFailure } from '../paywall/present/parse-purchase.js';

/** A server's question: a payment of its client, and the payment requirements it must meet. */
export interface FacilitatorRequest {
  readonly version: 1 | 2;
  readonly requirement: RequirementTerms;
  /**
   * A malformed payment is the client's mistake, which the server cannot correct: it leads to a verdict, not an error.
   */
  readonly payment: { readonly payload: PaymentPayload } | { readonly failure: PaymentFailure };
}

/** @throws ProblemError if the server's own part is malformed */
export function parseFacilitatorRequest(body: unknown): FacilitatorRequest {
  if (!isRecord(body)) throw refuseRequest(['the body must be a JSON object']);
  const payload = ownField(body, 'paymentPayload');
  const requirements = ownField(body, 'paymentRequirements');
  const problems: string[] = [];
  if (!isRecord(payload)) problems.push('paymentPayload must be an object');
  if (!isRecord(requirements)) problems.push('paymentRequirements must be an object');
  const version = readVersion(body, isRecord(payload) ? payload : {});
  if (version === null) problems.push('x402Version must be 1 or 2');
  if (problems.length > 0 || version === null) throw refuseRequest(problems);
  return { version, requirement: parseRequirement(requirements, version), payment: readPayment(payload, version) };
}

/** x402 v1 servers may leave it out of the envelope. */
function readVersion(body: JsonRecord, payload: JsonRecord): 1 | 2 | null {
  const version = ownField(body, 'x402Version') ?? ownField(payload, 'x402Version');
  return version === 1 || version === 2 ? version : null;
}

function parseRequirement(requirements: unknown, version: 1 | 2): RequirementTerms {
  try {
    return parseRequirementTerms(requirements, version);
  } catch (error) {
    if (error instanceof PaymentError) throw refuseRequest([error.message]);
    throw error;
  }
}

function readPayment(value: unknown, version: 1 | 2): FacilitatorRequest['payment'] {
  try {
    const payload = parsePaymentPayload(value);
    return payload.version === version ? { payload } : { failure: 'wrong_version' };
  } catch (error) {
    if (error instanceof PaymentError && isPaymentFailure(error.code)) return { failure: error.code };
    throw error;
  }
}
