import {
  createPublicClient,
  defineChain,
  fallback,
  http,
  type HttpTransport,
  type HttpTransportConfig,
  type PublicClient,
  type Transport,
} from 'viem';

import { readAhead } from './read-body.js';
import { isUnanswered } from './rpc-failure.js';
import { splitRefusedBatches } from './split-refused-batches.js';

/** viem refuses larger responses. */
const MAX_RESPONSE_BYTES = 10 * 1024 * 1024;

export interface RpcTransportOptions extends Pick<HttpTransportConfig, 'batch' | 'retryCount'> {
  /** Time limit for an answer, from the request to its last byte. */
  timeout: number;
}

/**
 * viem's HTTP transport with a time-out that covers the whole answer. viem's own time-out ends with the headers, and a
 * body may never end. Servers that take no batches are asked one by one.
 */
export function createRpcTransport(url: string, options: RpcTransportOptions): HttpTransport {
  const fetchFn = options.batch ? splitRefusedBatches(fetchWhole) : fetchWhole;
  return http(url, { ...options, maxResponseBodySize: MAX_RESPONSE_BYTES, fetchFn });
}

/** The first server that answers; the others are asked when it does not. */
export function joinTransports(transports: readonly HttpTransport[]): Transport {
  const [first, ...others] = transports;
  if (first !== undefined && others.length === 0) return first;
  return fallback(transports, { retryCount: 0, shouldThrow: (error) => !isUnanswered(error) });
}

/** viem's client of a chain of which only the id is known. */
export function createRpcClient(chainId: number, transport: Transport): PublicClient {
  const nativeCurrency = { name: 'native', symbol: 'native', decimals: 18 };
  const chain = defineChain({
    id: chainId,
    name: `chain ${chainId}`,
    nativeCurrency,
    rpcUrls: { default: { http: [] } },
  });
  return createPublicClient({ chain, transport, cacheTime: 0 });
}

/** viem aborts a request that takes too long until this has resolved. */
const fetchWhole: typeof fetch = async (...request) => {
  const response = await fetch(...request);
  await readAhead(response, MAX_RESPONSE_BYTES);
  return response.ok ? response : withoutType(response);
};

/** viem loses the status of a failed answer whose content type is JSON but whose body is not. */
function withoutType({ body, status, statusText, headers }: Response): Response {
  const others = new Headers(headers);
  others.delete('content-type');
  return new Response(body, { status, statusText, headers: others });
}
