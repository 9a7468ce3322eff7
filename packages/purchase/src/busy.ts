import { parseRetryAfter } from '@tollgate/protocol';

/** What is sold is busy: it did not do what was asked, and may do it later. */
export const BUSY_STATUSES: readonly number[] = [429, 503];

const PAUSE_MS = 5_000;
const LEAST_PAUSE_MS = 1_000;
/** Of a time in the far future, no payment waits for the rest: its record would be kept for ever. */
const LONGEST_PAUSE_MS = 7 * 86_400_000;

/** How long what is sold is to be left alone after a response, by its `Retry-After`; 0 where it is not busy. */
export function pauseMsAfter(status: number, retryAfter: string | null, nowMs: number): number {
  if (!BUSY_STATUSES.includes(status)) return 0;
  const askedMs = parseRetryAfter(retryAfter, nowMs) ?? PAUSE_MS;
  return Math.min(Math.max(askedMs, LEAST_PAUSE_MS), LONGEST_PAUSE_MS);
}
