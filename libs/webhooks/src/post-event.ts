import { createHmac } from 'node:crypto';

import { TargetRefusedError, type SafeFetch } from '@tollgate/http';
import { parseRetryAfter } from '@tollgate/protocol';

import type { WebhookEnvironment } from './webhook.environment.js';

export interface PostEventOptions {
  fetch: SafeFetch['fetch'];
  url: string;
  secret: string;
  /** Posted as JSON. */
  event: { readonly id: string };
  /** Aborts a running post. */
  signal: AbortSignal;
}

/** The outcome of a post; `reason` contains neither the address nor anything the target sent. */
export type PostOutcome =
  | { outcome: 'delivered' | 'gone' }
  | { outcome: 'failed'; reason: string; /** From the target's `Retry-After`. */ retryAfterMs: number | null }
  | { outcome: 'broken_off' };

/** Posts one event to a target; it is delivered when the target answers 2xx. */
export async function postEvent({ fetch, url, secret, event, signal }: PostEventOptions): Promise<PostOutcome> {
  const body = JSON.stringify(event);
  const timestamp = String(Math.floor(Date.now() / 1000));
  try {
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        'Content-Type': 'application/json',
        'User-Agent': 'tollgate-webhooks',
        'Tollgate-Event-Id': event.id,
        'Tollgate-Timestamp': timestamp,
        'Tollgate-Signature': signWebhook({ secret, timestamp, body }),
      },
      body,
      signal,
    });
    // The body is not needed, and it may be endless.
    void response.body?.cancel().catch(() => undefined);
    return judgeAnswer(response);
  } catch (error) {
    if (signal.aborted) return { outcome: 'broken_off' };
    return { outcome: 'failed', reason: describeFailure(error), retryAfterMs: null };
  }
}

/** HMAC-SHA-256 over `timestamp.body`; `timestamp` in seconds. */
export function signWebhook({ secret, timestamp, body }: { secret: string; timestamp: string; body: string }): string {
  return `v1=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;
}

function judgeAnswer({ status, headers }: Response): PostOutcome {
  if (status >= 200 && status < 300) return { outcome: 'delivered' };
  if (status === 410) return { outcome: 'gone' };
  const reason = `The target answered ${status}.`;
  return { outcome: 'failed', reason, retryAfterMs: parseRetryAfter(headers.get('retry-after'), Date.now()) };
}

function describeFailure(error: unknown): string {
  if (error instanceof TargetRefusedError) return `The target address is not allowed: ${error.message}`;
  if (error instanceof Error && error.name === 'TimeoutError') return 'The target did not answer in time.';
  const { cause } = error as { cause?: { code?: unknown } };
  const code = typeof cause?.code === 'string' ? cause.code : 'no answer';
  return `The target could not be reached (${code}).`;
}

/**
 * The secret with which the events for a webhook target are signed. The target's owner gets it once, in the answer to
 * the registration. It is derived, so that what stores the target holds nothing to sign with.
 * @param secret a secret of this service, from its settings
 */
export function deriveWebhookSecret(secret: string, targetId: string): string {
  return createHmac('sha256', secret).update(`tollgate.webhook:${targetId}`).digest('base64url');
}

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
