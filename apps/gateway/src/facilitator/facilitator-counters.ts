import { Injectable } from '@nestjs/common';
import type { Problem } from '@tollgate/common';

/** Counts of the facilitator's responses since the start; /metrics reads them. */
@Injectable()
export class FacilitatorCounters {
  readonly counts = { valid: 0, invalid: 0, settled: 0, replayed: 0, not_settled: 0, pending: 0, unavailable: 0 };
}

/** The payment could not be verified and was not settled: the same request can be repeated. */
export function createUnavailable(retryAfterMs = 2_000): Problem {
  return {
    status: 503,
    code: 'verification_unavailable',
    detail: 'The payment cannot be verified or settled now. Send the same request again.',
    retryAfterMs,
  };
}

/** A relayer accepted the payment and may submit it at any time: repeating the request returns the result. */
export function createSettling(): Problem {
  return {
    status: 503,
    code: 'settlement_pending',
    detail:
      'The payment is accepted for settlement, but not submitted in a transaction yet. Send the same request again.',
    retryAfterMs: 2_000,
  };
}
