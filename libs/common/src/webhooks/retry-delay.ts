import type { WebhookEnvironment } from '../config/webhook.environment.js';

/**
 * The delay after a failed attempt, with a quarter of jitter either way, so that deliveries that failed together are
 * not repeated together. A target may ask for a longer delay, up to the longest, but not for a shorter one.
 * @param attemptsMade 1 after the first
 */
export function retryDelay(
  attemptsMade: number,
  retryAfterMs: number | null,
  settings: Readonly<WebhookEnvironment>,
): number {
  const { webhookFirstRetryMs, webhookLongestRetryMs: longestRetryMs } = settings;
  const backOffMs = Math.min(webhookFirstRetryMs * 2 ** (attemptsMade - 1), longestRetryMs);
  const jitteredMs = Math.round(backOffMs * (0.75 + Math.random() / 2));
  return Math.max(jitteredMs, Math.min(retryAfterMs ?? 0, longestRetryMs));
}
