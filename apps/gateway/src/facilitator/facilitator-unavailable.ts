import type { Problem } from '@tollgate/common';

/** Nothing is known of the payment, and nothing of it was moved: the same request can be sent again. */
export function createUnavailable(retryAfterMs = 2_000): Problem {
  return {
    status: 503,
    code: 'verification_unavailable',
    detail: 'The payment cannot be looked at or settled now. Send the same request again.',
    retryAfterMs,
  };
}

/** The payment was taken on and may be sent at any time: asking again for the same one is how to learn of it. */
export function createSettling(): Problem {
  return {
    status: 503,
    code: 'settlement_pending',
    detail: 'The payment will be settled and is in no transaction yet. Send the same request again.',
    retryAfterMs: 2_000,
  };
}
