import type { AxiosAdapter, AxiosInstance } from 'axios';

import type { Wallet } from './account/wallet.js';
import { createPayingAdapter } from './axios/paying-adapter.js';
import { createContext, type PaymentOptions } from './sign/payment-options.js';

/**
 * Makes an axios instance pay for 402 answers, as `fetchWithPayment` does: once, and within the limits. Payment happens in
 * an adapter around that of the request, so interceptors, transformers, `validateStatus`, agents and proxies see one
 * request and one answer. `timeout` limits each attempt, and `deadlineMs` all of them. A body that cannot be sent twice is
 * sent, and not paid for. A request that cannot be paid for rejects with an AxiosError whose `code` is that of the
 * PaymentError, which is its `cause`.
 * @returns the id with which to eject it from the request interceptors
 * @throws PaymentError `invalid_options` or `invalid_amount`
 */
export function payWithAxios(instance: AxiosInstance, wallet: Wallet, options: PaymentOptions): number {
  const context = createContext(fetch, wallet, options);
  const paying = new WeakSet<AxiosAdapter>();
  return instance.interceptors.request.use(
    (config) => {
      // A request that is sent again, with the config of its error, has the adapter already.
      if (typeof config.adapter === 'function' && paying.has(config.adapter)) return config;
      const adapter = createPayingAdapter(instance, context, config.adapter);
      paying.add(adapter);
      return Object.assign(config, { adapter });
    },
    undefined,
    { synchronous: true },
  );
}
