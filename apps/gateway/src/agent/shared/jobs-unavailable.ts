import type { Problem } from '@tollgate/common';

/** The outcome of the request is unknown. Repeating it with the same Idempotency-Key is safe. */
export const JOBS_UNAVAILABLE: Problem = {
  status: 503,
  code: 'jobs_unavailable',
  detail: 'The job journal is unavailable. Send the same request again.',
  retryAfterMs: 2_000,
};
