import type { AxiosError, AxiosInstance } from 'axios';

import { fetchWithPayment } from './fetch/fetch-with-payment.js';
import type { PaymentOptions } from './sign/payment-options.js';
import type { Wallet } from './sign/wallet.js';

/**
 * Makes an axios instance pay for 402 answers, as `fetchWithPayment` does: once, and within the limits. The paid
 * request is sent through `fetch`, and limited by `deadlineMs` instead of its `timeout`; all other requests are
 * unchanged. A request that cannot be paid for rejects with an AxiosError whose `code` is that of the PaymentError,
 * which is its `cause`.
 * @returns the id with which to eject the interceptor
 * @throws PaymentError `invalid_options` or `invalid_amount`
 */
export function payWithAxios(instance: AxiosInstance, wallet: Wallet, options: PaymentOptions): number {
  const payingFetch = fetchWithPayment(fetch, wallet, options);
  return instance.interceptors.response.use(undefined, async (error: AxiosError) => {
    const { config, response } = error;
    const isOurs = config?.env?.fetch === payingFetch;
    if (response?.status !== 402 || config === undefined || isOurs) throw error;
    return instance.request({ ...config, adapter: 'fetch', timeout: 0, env: { ...config.env, fetch: payingFetch } });
  });
}
