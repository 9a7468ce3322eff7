import {
  findPaymentCredentials,
  IDEMPOTENCY_KEY,
  PAYMENT_AUTHORIZATION,
  PAYMENT_SIGNATURE,
  PaymentError,
  X_PAYMENT,
} from '@tollgate/protocol';

import type { Wallet } from '../account/wallet.js';
import { assertSecureUrl } from '../network/assert-secure-url.js';
import { requestKey, takeRequest, toInit, type RequestSnapshot } from '../network/request-snapshot.js';
import { sleep } from '../network/sleep.js';
import { createContext, type PaymentContext, type PaymentOptions } from '../sign/payment-options.js';
import { readOffers } from '../sign/read-offers.js';
import { signPayment } from '../sign/sign-payment.js';
import { isRedeemable, type StoredRevision } from '../store/payment-store.js';
import { awaitPayment } from './await-payment.js';
import { redeemPayment } from './redeem-payment.js';
import { completeMove, takeReleased } from './released-payment.js';

/** How long another caller's intention is respected. After that its process counts as dead. */
const INTENTION_MS = 5000;
const LOOK_AGAIN_MS = 50;
/** How often a payment is signed whose signature comes later than the end of the offer. */
const MAX_LATE = 3;
/** How often the price is asked whose challenge another payment is for. */
const MAX_CLAIMED = 6;

/** fetch has followed the redirects of the unpaid request: pay only the origin that was requested. */
function assertSameOrigin(request: RequestSnapshot, response: Response): RequestSnapshot {
  if (!response.redirected) return request;
  const isSafeMethod = request.method === 'GET' || request.method === 'HEAD';
  if (new URL(response.url).origin === new URL(request.url).origin && isSafeMethod) {
    return { ...request, url: response.url };
  }
  throw new PaymentError('redirect_refused', `The request was redirected to ${response.url}, which asks for payment.`, {
    hint: 'Nothing was paid. Request that URL directly if you trust it.',
    details: { from: request.url, to: response.url },
  });
}

/**
 * True when this request has an open payment. An `intended` one has moved no money; failed and abandoned ones are
 * closed: nothing more can be redeemed with them.
 */
function isPaid({ payment }: StoredRevision, canRepeat: boolean): boolean {
  return isRedeemable(payment) || (payment.state === 'redeemed' && canRepeat);
}

/**
 * True while another caller seems about to sign for this request. If both overwrote each other's intention, neither
 * would finish.
 */
function isBeingPaid({ payment }: StoredRevision): boolean {
  const ageMs = Date.now() - payment.createdAtMs;
  return payment.state === 'intended' && ageMs >= 0 && ageMs < INTENTION_MS;
}

async function finish(
  context: PaymentContext,
  key: string,
  request: RequestSnapshot,
  { sentAtMs, ...found }: StoredRevision & { sentAtMs: number },
): Promise<Response | null> {
  const deadlineAtMs = Date.now() + context.deadlineMs;
  // A server took a redeemed payment: an RPC server that no longer has its transaction must not lead to another one.
  const stored =
    found.payment.state === 'redeemed'
      ? found
      : await awaitPayment(context, key, found, { sentAtMs, deadlineAtMs, signal: request.signal });
  if (!stored) return null;
  return redeemPayment(context, { key, request: { ...request, url: stored.payment.url }, stored, deadlineAtMs });
}

/** A key names one request for good: with another one it would buy again, or get the answer of the first. */
function assertOwnKey({ hash, headers }: RequestSnapshot, stored: StoredRevision | null): void {
  if (!stored || stored.payment.requestHash === hash) return;
  const { method, url } = stored.payment;
  throw new PaymentError(
    'idempotency_key_reused',
    `The Idempotency-Key ${headers.get(IDEMPOTENCY_KEY)} belongs to another request: ${method} ${url}.`,
    {
      hint: 'Nothing was paid. Use a new key for a request with another method, URL or body.',
      details: { method, url },
    },
  );
}

const createLate = (times: number): PaymentError =>
  new PaymentError('cannot_pay', `The wallet signed ${times} times later than the offer was valid.`, {
    hint: 'Nothing was sent. Sign sooner, or ask the server for a longer maxTimeoutSeconds.',
  });

const createClaimed = (): PaymentError =>
  new PaymentError('cannot_pay', 'The server keeps asking by a payment challenge for which another payment was made.', {
    hint: 'Nothing was paid. The server must give each request a challenge of its own.',
  });

/**
 * The client procedure of the specification for one request: request, pay, request again with the proof. A payment left
 * in the store by an earlier run of the same request is redeemed first, before anything is requested or paid.
 */
export async function runProcedure(
  context: PaymentContext,
  request: RequestSnapshot,
  onUnpaid: (response: Response) => Response,
): Promise<Response> {
  const key = requestKey(request);
  // An Idempotency-Key of the caller identifies one purchase for good: repeating the request asks for its answer again.
  let canRepeat = request.headers.has(IDEMPOTENCY_KEY);
  let late = 0;
  let claimed = 0;
  for (let giveUpAtMs = Date.now() + context.deadlineMs; Date.now() < giveUpAtMs;) {
    const read = await context.store.read(key);
    assertOwnKey(request, read);
    let stored = read && { ...read, sentAtMs: 0 };
    if (stored && isBeingPaid(stored)) {
      await sleep(LOOK_AGAIN_MS, request.signal);
      continue;
    }
    if (read?.payment.movedTo) {
      await completeMove(context.store, key, read);
      continue;
    }
    // From now on no other request may take it.
    if (read?.payment.state === 'released') {
      await context.store.write(key, { ...read.payment, state: 'signed' }, read.revision);
      continue;
    }
    if (stored && isPaid(stored, canRepeat)) {
      context.onEvent({ type: 'resuming', key, payment: stored.payment });
    } else {
      const response = await context.fetch(
        request.url,
        toInit(request, { headers: request.headers, signal: request.signal }),
      );
      // A HEAD asks for the price, and takes no payment.
      if (response.status !== 402 || request.method === 'HEAD') return onUnpaid(response);
      const paidRequest = assertSameOrigin(request, response);
      assertSecureUrl(paidRequest.url, context.allowInsecureHttp);
      const { attemptTimeoutMs: timeoutMs, store } = context;
      const offers = await readOffers(response, {
        timeoutMs,
        prefersSignatures: store.isVolatile === true,
        sendsAuthorization: request.headers.has('Authorization'),
      });
      const afterRevision = stored?.revision ?? 0;
      const terms = { offers, afterRevision };
      if (await takeReleased(context, { key, request: paidRequest }, terms)) continue;
      const signed = await signPayment(context, { key, request: paidRequest, ...terms });
      if (signed === 'late') {
        if ((late += 1) === MAX_LATE) throw createLate(late);
        // A person may have been asked to sign: that takes as long as it takes.
        giveUpAtMs = Date.now() + context.deadlineMs;
        continue;
      }
      if (signed === 'claimed') {
        if ((claimed += 1) === MAX_CLAIMED) throw createClaimed();
        // Calls that got the same challenge must not ask in the same millisecond again.
        await sleep(Math.random() * claimed * LOOK_AGAIN_MS, request.signal);
        continue;
      }
      stored = signed;
      // Another caller bought the same meanwhile: that purchase serves this call too, even if it is already finished.
      if (!stored) canRepeat = true;
    }
    const answer = stored && (await finish(context, key, request, stored));
    if (answer) return answer;
  }
  throw new PaymentError('store_busy', 'Other callers keep changing the stored payment of this request.', {
    hint: 'Give requests that are to be paid separately an Idempotency-Key of their own.',
  });
}

/**
 * Wraps `fetch` so that it pays. Answers other than 402 are returned unchanged; a 402 is paid once, with a trusted
 * asset and within the limits, and the request is repeated with the proof until the answer is there.
 *
 * With several wallets, one a chain, the first offer that one of them can pay is paid, in the order of the option `assets`.
 *
 * Two calls with the same method, URL and body are the same purchase while its payment is open; to buy twice at the
 * same time, give them different `Idempotency-Key` headers.
 * @throws PaymentError for a problem of the payment, described by its `code`; any error of `fetch` for the unpaid
 * request.
 */
export function fetchWithPayment(
  fetch: typeof globalThis.fetch,
  wallets: Wallet | readonly Wallet[],
  options: PaymentOptions,
): typeof globalThis.fetch {
  const context = createContext(fetch, wallets, options);
  return async (input, init) => {
    const request = await takeRequest(input, init);
    if (presentsPayment(request.headers))
      return context.fetch(request.url, toInit(request, { headers: request.headers, signal: request.signal }));
    return runProcedure(context, request, (response) => response);
  };
}

/** True for a caller that sends a proof of its own, and pays for itself. */
export function presentsPayment(headers: Headers): boolean {
  return (
    [X_PAYMENT, PAYMENT_SIGNATURE, PAYMENT_AUTHORIZATION].some((name) => headers.has(name)) ||
    findPaymentCredentials(headers.get('Authorization') ?? '').length > 0
  );
}

/**
 * The client procedure of the specification, for a resource that requires a payment.
 * @throws PaymentError `expected_402` (`Expected 402 Payment Required, got <status>`) when it is free or missing, and
 * any error of `fetchWithPayment`.
 */
export async function payForResource(
  url: string | URL,
  wallets: Wallet | readonly Wallet[],
  options: PaymentOptions & { fetch?: typeof globalThis.fetch; init?: RequestInit },
): Promise<Response> {
  const { fetch = globalThis.fetch, init, ...paymentOptions } = options;
  const context = createContext(fetch, wallets, paymentOptions);
  return runProcedure(context, await takeRequest(url, init), ({ status, body }) => {
    body?.cancel().catch(() => undefined);
    throw new PaymentError('expected_402', `Expected 402 Payment Required, got ${status}`, { details: { status } });
  });
}
