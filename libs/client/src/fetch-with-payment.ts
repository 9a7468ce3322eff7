import { IDEMPOTENCY_KEY, PAYMENT_SIGNATURE, PaymentError, X_PAYMENT } from '@tollgate/protocol';

import { assertSecureUrl } from './assert-secure-url.js';
import { awaitPayment } from './await-payment.js';
import { createContext, type PaymentContext, type PaymentOptions } from './payment-options.js';
import type { StoredRevision } from './payment-store.js';
import { readOffers } from './read-offers.js';
import { redeemPayment } from './redeem-payment.js';
import { requestKey, takeRequest, toInit, type RequestSnapshot } from './request-snapshot.js';
import { signPayment } from './sign-payment.js';
import { sleep } from './sleep.js';
import type { Wallet } from './wallet.js';

/** How long an intention of somebody else is respected: he is about to sign, or has died. */
const INTENTION_MS = 5000;
const LOOK_AGAIN_MS = 50;

/** The redirects of an unpaid request were followed by fetch: what asks for money must still be whom we asked. */
function assertSameOrigin(request: RequestSnapshot, response: Response): RequestSnapshot {
  if (!response.redirected) return request;
  const isSafeMethod = request.method === 'GET' || request.method === 'HEAD';
  if (new URL(response.url).origin === new URL(request.url).origin && isSafeMethod) {
    return { ...request, url: response.url };
  }
  throw new PaymentError('redirect_refused', `The request was redirected to ${response.url}, which asks for payment.`, {
    hint: 'Nothing was paid. Ask for that URL directly if you trust it.',
    details: { from: request.url, to: response.url },
  });
}

/** True when money was committed to this request. `intended` moved none; what failed or was given up is settled. */
function isPaid({ payment }: StoredRevision, canRepeat: boolean): boolean {
  return payment.state === 'signed' || (payment.state === 'redeemed' && canRepeat);
}

/**
 * True while somebody else seems about to sign for this request. Overwriting his intention would undo his work, and
 * he ours, in turns.
 */
function isBeingPaid({ payment }: StoredRevision): boolean {
  const ageMs = Date.now() - payment.createdAtMs;
  return payment.state === 'intended' && ageMs >= 0 && ageMs < INTENTION_MS;
}

async function finish(
  context: PaymentContext,
  key: string,
  request: RequestSnapshot,
  stored: StoredRevision,
): Promise<Response | null> {
  const until = { deadlineAtMs: Date.now() + context.deadlineMs, signal: request.signal };
  if (!(await awaitPayment(context, key, stored, until))) return null;
  return redeemPayment(context, {
    key,
    request: { ...request, url: stored.payment.url },
    stored,
    deadlineAtMs: until.deadlineAtMs,
  });
}

/**
 * The procedure of the specification for one request: ask, pay, ask again. A payment left in the store by an earlier
 * run of the same request is redeemed first, before anything is asked or paid.
 */
export async function runProcedure(
  context: PaymentContext,
  request: RequestSnapshot,
  onUnpaid: (response: Response) => Response,
): Promise<Response> {
  const key = requestKey(request);
  // A key of the caller's own names one purchase for good: a repeat asks for its answer again.
  let canRepeat = request.headers.has(IDEMPOTENCY_KEY);
  for (const giveUpAtMs = Date.now() + context.deadlineMs; Date.now() < giveUpAtMs;) {
    let stored = await context.store.read(key);
    if (stored && isBeingPaid(stored)) {
      await sleep(LOOK_AGAIN_MS, request.signal);
      continue;
    }
    if (stored && isPaid(stored, canRepeat)) {
      context.onEvent({ type: 'resuming', key, payment: stored.payment });
    } else {
      const response = await context.fetch(
        request.url,
        toInit(request, { headers: request.headers, signal: request.signal }),
      );
      if (response.status !== 402) return onUnpaid(response);
      const paidRequest = assertSameOrigin(request, response);
      assertSecureUrl(paidRequest.url, context.allowInsecureHttp);
      const offers = await readOffers(response, context.wallet, context.attemptTimeoutMs);
      const afterRevision = stored?.revision ?? 0;
      stored = await signPayment(context, { key, request: paidRequest, offers, afterRevision });
      // Somebody else bought the same meanwhile: that purchase serves this call too, even when it is done already.
      if (!stored) canRepeat = true;
    }
    const answer = stored && (await finish(context, key, request, stored));
    if (answer) return answer;
  }
  throw new PaymentError('store_busy', 'Others keep changing the stored payment of this request.', {
    hint: 'Give requests that are to be paid separately an Idempotency-Key of their own.',
  });
}

/**
 * A `fetch` that pays. Answers other than 402 are handed through untouched; a 402 is paid once, with a trusted asset
 * and below the limits, and the request is repeated with the proof until the answer is there.
 *
 * Two calls with the same method, URL and body are the same purchase while its payment is open; give them different
 * `Idempotency-Key` headers to buy twice at a time.
 * @throws PaymentError for what the payment meets (its `code` says what); what `fetch` throws for the unpaid request.
 */
export function fetchWithPayment(
  fetch: typeof globalThis.fetch,
  wallet: Wallet,
  options: PaymentOptions,
): typeof globalThis.fetch {
  const context = createContext(fetch, wallet, options);
  return async (input, init) => {
    const request = await takeRequest(input, init);
    // Somebody who brings a proof of his own pays for himself.
    if (request.headers.has(X_PAYMENT) || request.headers.has(PAYMENT_SIGNATURE))
      return context.fetch(request.url, toInit(request, { headers: request.headers, signal: request.signal }));
    return runProcedure(context, request, (response) => response);
  };
}
