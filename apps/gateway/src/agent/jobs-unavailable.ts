import type { Problem } from '@tollgate/common';

/** Nothing is known of what was asked: the same request, with the same Idempotency-Key, does no harm. */
export const JOBS_UNAVAILABLE: Problem = {
  status: 503,
  code: 'jobs_unavailable',
  detail: 'The journal of the jobs cannot be asked now. Send the same request again.',
  retryAfterMs: 2_000,
};
