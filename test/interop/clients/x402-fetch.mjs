import { createSigner, decodeXPaymentResponse, wrapFetchWithPayment } from 'x402-fetch';

import { readAnswer } from './read-answer.mjs';
import { retryFetch } from './retry-fetch.mjs';

export async function createClient({ privateKey, retries }) {
  const fetchWithPayment = wrapFetchWithPayment(
    retries ? retryFetch : fetch,
    await createSigner('sei-testnet', privateKey),
  );
  return async (url, init) => readAnswer(await fetchWithPayment(url, init), readReceipt);
}

function readReceipt(header) {
  const value = header('X-PAYMENT-RESPONSE');
  return value && decodeXPaymentResponse(value);
}
