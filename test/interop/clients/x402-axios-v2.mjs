import { decodePaymentResponseHeader, wrapAxiosWithPayment, x402Client } from '@x402/axios';
import axios from 'axios';

import { createX402Client } from './create-x402-client.mjs';
import { axiosRequest, readAxiosAnswer } from './read-answer.mjs';

export function createClient(configuration) {
  const api = wrapAxiosWithPayment(axios.create(), createX402Client(x402Client, configuration));
  return (url, init) => readAxiosAnswer(api.request(axiosRequest(url, init)), readReceipt);
}

function readReceipt(header) {
  const value = header('PAYMENT-RESPONSE') ?? header('X-PAYMENT-RESPONSE');
  return value && decodePaymentResponseHeader(value);
}
