import { PaymentError } from '@tollgate/protocol';
import type { AxiosAdapter, AxiosInstance, AxiosResponse, AxiosStatic, InternalAxiosRequestConfig } from 'axios';

import type { Wallet } from './account/wallet.js';
import { AxiosExchange } from './axios/axios-exchange.js';
import { takeData } from './axios/replayable-data.js';
import { presentsPayment, runProcedure } from './fetch/fetch-with-payment.js';
import { refuseBody, takeRequest } from './network/request-snapshot.js';
import { createContext, type PaymentContext, type PaymentOptions } from './sign/payment-options.js';

/**
 * Makes an axios instance pay for 402 answers, as `fetchWithPayment` does: once, and within the limits. Payment happens in
 * an adapter around that of the request, so interceptors, transformers, `validateStatus`, agents and proxies see one
 * request and one answer. `timeout` limits each attempt, and `deadlineMs` all of them. A body that cannot be sent twice is
 * sent, and not paid for. A request that cannot be paid for rejects with an AxiosError whose `code` is that of the
 * PaymentError, which is its `cause`.
 * @returns the id with which to eject it from the request interceptors
 * @throws PaymentError `invalid_options` or `invalid_amount`
 */
export function payWithAxios(
  instance: AxiosInstance,
  wallets: Wallet | readonly Wallet[],
  options: PaymentOptions,
): number {
  const context = createContext(fetch, wallets, options);
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

type Config = InternalAxiosRequestConfig;

/** An adapter that sends by another one, as often as the payment needs, and settles once with the last answer. */
function createPayingAdapter(
  instance: AxiosInstance,
  context: PaymentContext,
  adapter: Config['adapter'],
): AxiosAdapter {
  return async (config) => {
    // The package that the caller's instance comes from; this module must load without it.
    const { default: axios } = await import('axios');
    const plain = { ...config, adapter: adapter ?? instance.defaults.adapter ?? [] };
    const url = instance.getUri(plain);
    const headers = new Headers(Object.entries(config.headers.toJSON()).map(([name, value]) => [name, String(value)]));
    if (!isHttp(url) || presentsPayment(headers)) return axios.getAdapter(plain.adapter, plain)(config);
    const exchange = new AxiosExchange(axios, plain);
    try {
      return settle(axios, config, await answer(exchange, context, { url, headers, config }));
    } catch (error) {
      throw explain(axios, config, exchange, error);
    }
  };
}

/** Any other URL, such as one of a file, is not asked for a price. */
function isHttp(url: string): boolean {
  const base = (globalThis as { location?: { href: string } }).location?.href;
  return URL.canParse(url, base) && /^https?:$/.test(new URL(url, base).protocol);
}

async function answer(
  exchange: AxiosExchange,
  context: PaymentContext,
  { url, headers, config }: { url: string; headers: Headers; config: Config },
): Promise<AxiosResponse> {
  const { method = 'get', signal, cancelToken, maxRedirects, auth } = config;
  const taken = await takeData(config.data);
  if (!taken) {
    const response = await exchange.send();
    if (response.status === 402) refuseBody(Object.prototype.toString.call(config.data).slice(8, -1));
    return response;
  }
  if (taken.contentType !== null) headers.set('content-type', taken.contentType);
  const signals = [signal, cancelToken?.toAbortSignal()].filter((one) => one instanceof AbortSignal);
  const request = await takeRequest(url, {
    method,
    headers,
    body: taken.body,
    ...(signals.length > 0 && { signal: AbortSignal.any(signals) }),
    ...(maxRedirects === 0 && { redirect: 'manual' }),
  });
  const { username, password } = new URL(request.url);
  // axios writes this header itself, over any other value.
  if (auth || username || password) request.headers.set('authorization', 'Basic');
  const paying = { ...context, fetch: exchange.createFetch(request, taken) };
  return exchange.resultOf(await runProcedure(paying, request, (unpaid) => unpaid));
}

function settle(axios: AxiosStatic, config: Config, response: AxiosResponse): AxiosResponse {
  const { status } = response;
  if (!status || !config.validateStatus || config.validateStatus(status)) return Object.assign(response, { config });
  const code = status >= 400 && status < 500 ? 'ERR_BAD_REQUEST' : 'ERR_BAD_RESPONSE';
  const settled = Object.assign(response, { config });
  throw new axios.AxiosError(`Request failed with status code ${status}`, code, config, response.request, settled);
}

function explain(axios: AxiosStatic, config: Config, { last, failure }: AxiosExchange, thrown: unknown): unknown {
  const error = failure ?? thrown;
  const isAborted = config.signal?.aborted === true || config.cancelToken?.reason !== undefined;
  if (isAborted && !axios.isCancel(error)) return new axios.CanceledError(config.cancelToken?.reason?.message, config);
  // The error of a cancel token has none.
  if (axios.isAxiosError(error)) return error.config ? Object.assign(error, { config }) : error;
  if (!(error instanceof PaymentError)) return error;
  return axios.AxiosError.from(error, error.code, config, last?.request, last && Object.assign(last, { config }));
}
