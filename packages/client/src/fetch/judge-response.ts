import {
  IDEMPOTENT_REPLAYED,
  parseRetryAfter,
  PAYMENT_RECEIPT,
  PAYMENT_RESPONSE,
  X_PAYMENT_FAILURE,
  X_PAYMENT_RELEASED,
  X_PAYMENT_RESPONSE,
} from '@tollgate/protocol';

import type { TryLimit } from './try-spacing.js';

/** What to do with an answer to a request that carried a proof. */
export type Judgement =
  | { kind: 'answer'; isFinal: boolean }
  | { kind: 'retry'; reason: string; delayMs: number | null; uses: TryLimit | null }
  | { kind: 'redirect'; location: string | null }
  | { kind: 'refused'; failure: string | null };

/** Failures that may go away with time: the same proof is sent again. */
const TRANSIENT_FAILURES = ['receipt_missing', 'not_confirmed'];
const RETRIED_STATUSES = [425, 502, 503, 504];
// A conflict or a rate limit without Retry-After is the final answer of the resource.
const RETRIED_WHEN_TOLD = [409, 429];
/** With one of these, even a redirect is the answer that was paid for. */
const SOLD = [IDEMPOTENT_REPLAYED, PAYMENT_RESPONSE, X_PAYMENT_RESPONSE, PAYMENT_RECEIPT];
const BUSY_STATUSES = [429, 503];
// A gate that implements only the documented protocol answers just "failed" while its node is behind ours.
const MAX_UNDIAGNOSED = 3;

/** Decides from the status and headers alone, never from the body. */
export function judgeResponse(response: Response, seen: { nowMs: number; undiagnosed: number }): Judgement {
  const { status, headers } = response;
  const delayMs = parseRetryAfter(headers.get('retry-after'), seen.nowMs);
  const location = headers.get('location');
  if (response.type === 'opaqueredirect') return { kind: 'redirect', location: null };
  const isSold = SOLD.some((name) => headers.has(name));
  if (status >= 300 && status < 400 && location !== null && !isSold) return { kind: 'redirect', location };
  if (status === 402) {
    const failure = headers.get(X_PAYMENT_FAILURE);
    const isTransient = failure === null ? seen.undiagnosed < MAX_UNDIAGNOSED : TRANSIENT_FAILURES.includes(failure);
    if (!isTransient) return { kind: 'refused', failure };
    return { kind: 'retry', reason: failure ?? 'payment not verified yet', delayMs: delayMs ?? 1000, uses: null };
  }
  const isReleased = headers.get(X_PAYMENT_RELEASED) === 'true';
  const isRetried = RETRIED_STATUSES.includes(status) || (RETRIED_WHEN_TOLD.includes(status) && delayMs !== null);
  if (isRetried) {
    const limit = BUSY_STATUSES.includes(status) ? 'busy' : 'failure';
    return { kind: 'retry', reason: `status ${status}`, delayMs, uses: isReleased ? limit : null };
  }
  // After a failure without charge the payment is still valid; after a replayed one it was charged.
  const isFinal = !isReleased && (status < 400 || headers.get(IDEMPOTENT_REPLAYED) === 'true');
  return { kind: 'answer', isFinal };
}
