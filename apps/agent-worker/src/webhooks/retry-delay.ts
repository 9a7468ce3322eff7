export interface RetryDelays {
  /** After the first attempt; doubles after each further one. */
  firstRetryMs: number;
  longestRetryMs: number;
}

/**
 * The delay after a failed attempt, with a quarter of jitter either way, so that deliveries that failed together are
 * not repeated together. A target may ask for a longer delay, up to the longest, but not for a shorter one.
 * @param attemptsMade 1 after the first
 */
export function retryDelay(attemptsMade: number, retryAfterMs: number | null, delays: RetryDelays): number {
  const { firstRetryMs, longestRetryMs } = delays;
  const backOffMs = Math.min(firstRetryMs * 2 ** (attemptsMade - 1), longestRetryMs);
  const jitteredMs = Math.round(backOffMs * (0.75 + Math.random() / 2));
  return Math.max(jitteredMs, Math.min(retryAfterMs ?? 0, longestRetryMs));
}
