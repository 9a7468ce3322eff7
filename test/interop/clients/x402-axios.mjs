import axios from 'axios';
import { createSigner, decodeXPaymentResponse, withPaymentInterceptor } from 'x402-axios';

import { axiosRequest, readAxiosAnswer } from './read-answer.mjs';

export async function createClient({ privateKey }) {
  const api = withPaymentInterceptor(axios.create(), await createSigner('sei-testnet', privateKey));
  return (url, init) => readAxiosAnswer(api.request(axiosRequest(url, init)), readReceipt);
}

function readReceipt(header) {
  const value = header('X-PAYMENT-RESPONSE');
  return value && decodeXPaymentResponse(value);
}
