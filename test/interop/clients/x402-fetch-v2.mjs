import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch';

import { createX402Client } from './create-x402-client.mjs';
import { readAnswer } from './read-answer.mjs';
import { retryFetch } from './retry-fetch.mjs';

export function createClient(configuration) {
  const { retries } = configuration;
  const client = createX402Client(x402Client, configuration);
  const fetchWithPayment = wrapFetchWithPayment(retries ? retryFetch : fetch, client);
  return async (url, init) => readAnswer(await fetchWithPayment(url, init), readReceipt);
}

function readReceipt(header) {
  const value = header('PAYMENT-RESPONSE') ?? header('X-PAYMENT-RESPONSE');
  return value && decodePaymentResponseHeader(value);
}
