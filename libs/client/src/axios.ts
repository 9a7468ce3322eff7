import type { AxiosError, AxiosInstance } from 'axios';

import { fetchWithPayment } from './fetch-with-payment.js';
import type { PaymentOptions } from './payment-options.js';
import type { Wallet } from './wallet.js';

/**
 * Has an axios instance pay the 402s it meets, as `fetchWithPayment` does: once, and within the limits. Such a request is
 * repeated through `fetch`, and bounded by `deadlineMs` in place of its `timeout`; everything else goes its old way. One
 * that cannot be paid rejects with an AxiosError whose `code` is that of the PaymentError, which is its `cause`.
 * @returns the id to eject the interceptor by
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
