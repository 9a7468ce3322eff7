export interface RetryDelays {
  /** After the first attempt; it doubles after each one. */
  firstRetryMs: number;
  longestRetryMs: number;
}

/**
 * How long to wait after an attempt, with a quarter of jitter either way, so that what failed together does not come back
 * together. A target may ask for more than that, up to the longest, and not for less.
 * @param attemptsMade 1 after the first
 */
export function retryDelay(attemptsMade: number, retryAfterMs: number | null, delays: RetryDelays): number {
  const { firstRetryMs, longestRetryMs } = delays;
  const backOffMs = Math.min(firstRetryMs * 2 ** (attemptsMade - 1), longestRetryMs);
  const jitteredMs = Math.round(backOffMs * (0.75 + Math.random() / 2));
  return Math.max(jitteredMs, Math.min(retryAfterMs ?? 0, longestRetryMs));
}
