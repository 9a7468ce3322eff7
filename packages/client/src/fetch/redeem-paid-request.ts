import { requestKey, takeRequest } from '../network/request-snapshot.js';
import type { RedeemablePayment } from '../store/payment-store.js';
import { showPayment } from './create-payment-headers.js';
import { fetchPaidAnswer, type PaidResponse, type RedemptionContext } from './redeem-payment.js';

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
