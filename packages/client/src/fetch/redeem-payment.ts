import { PaymentError, X_PAYMENT_RELEASED } from '@tollgate/protocol';

import { requestKey, takeRequest, type RequestSnapshot } from '../network/request-snapshot.js';
import { watchBody } from '../network/watch-body.js';
import type { PaymentContext } from '../sign/payment-options.js';
import { noteState, type RedeemablePayment, type StoredRevision } from '../store/payment-store.js';
import { showPayment } from './create-payment-headers.js';
import { fetchPaidAnswer, type PaidResponse, type RedemptionContext } from './paid-answer.js';
import { noteReleased } from './released-payment.js';

export interface RedeemOptions extends Partial<Omit<RedemptionContext, 'onEvent'>> {
  /** From the first attempt to the answer, waiting for a turn not included; 60 s. */
  deadlineMs?: number;
  signal?: AbortSignal;
}

/**
 * Fetches the answer of a mined or signed payment, for callers that keep payments elsewhere than in a `PaymentStore`. It
 * may be called again for the same payment, by another process too: it shows the same proof and key.
 * @throws TypeError if nothing was paid and nothing signed; the errors of `fetchWithPayment` after a payment is made
 */
export async function redeemPaidRequest(payment: RedeemablePayment, options: RedeemOptions): Promise<PaidResponse> {
  const { deadlineMs = 60_000, signal, fetch = globalThis.fetch, inTurn } = options;
  const { attemptTimeoutMs = 30_000, allowInsecureHttp = false } = options;
  const shown = showPayment(payment);
  if (!shown) throw new TypeError('the payment has neither a transaction nor an authorization');
  const request = await takeRequest(payment.url, { method: payment.method, ...(signal && { signal }) });
  const { response, isFinal } = await fetchPaidAnswer(
    { fetch, attemptTimeoutMs, allowInsecureHttp, onEvent: () => undefined, ...(inTurn && { inTurn }) },
    { key: requestKey(request), request, payment: shown, deadlineAtMs: Date.now() + deadlineMs },
  );
  return { response, isFinal };
}

/**
 * Redeems a stored payment. It is noted as redeemed when the caller has the whole answer: at once if the body is in
 * memory, otherwise at its end; and as released when the server says so.
 */
export async function redeemPayment(
  context: PaymentContext,
  input: { key: string; request: RequestSnapshot; stored: StoredRevision; deadlineAtMs: number },
): Promise<Response> {
  const { key, request, deadlineAtMs } = input;
  const { payment } = input.stored;
  const shown = showPayment(payment);
  if (!shown) throw new PaymentError('store_damaged', 'The stored payment has no signed transaction or authorization.');
  const answer = await fetchPaidAnswer(context, { key, request, payment: shown, deadlineAtMs });
  const { response, isFinal, isWhole } = answer;
  if (!isFinal) {
    if (response.headers.get(X_PAYMENT_RELEASED) === 'true') await noteReleased(context, input, input.stored);
    return response;
  }
  const received = async (): Promise<void> => {
    await noteState(context.store, key, input.stored, 'redeemed');
    context.onEvent({ type: 'redeemed', key, payment, status: response.status });
  };
  if (!isWhole) return watchBody(response, { received, unreadMs: context.attemptTimeoutMs, signal: request.signal });
  await received();
  return response;
}
