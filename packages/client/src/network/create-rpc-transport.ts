import { http, type HttpTransport, type HttpTransportConfig } from 'viem';

import { readAhead } from './read-ahead.js';

/** viem refuses larger responses. */
const MAX_RESPONSE_BYTES = 10 * 1024 * 1024;

export interface RpcTransportOptions extends Pick<HttpTransportConfig, 'batch' | 'retryCount'> {
  /** Time limit for an answer, from the request to its last byte. */
  timeout: number;
}

/**
 * viem's HTTP transport with a time-out that covers the whole answer. viem's own time-out ends with the headers, and a
 * body may never end.
 */
export function createRpcTransport(url: string, options: RpcTransportOptions): HttpTransport {
  return http(url, { ...options, maxResponseBodySize: MAX_RESPONSE_BYTES, fetchFn: fetchWhole });
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
