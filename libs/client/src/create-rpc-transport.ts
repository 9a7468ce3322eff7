import { http, type HttpTransport, type HttpTransportConfig } from 'viem';

import { readAhead } from './read-ahead.js';

/** More is refused by viem. */
const MAX_RESPONSE_BYTES = 10 * 1024 * 1024;

export interface RpcTransportOptions extends Pick<HttpTransportConfig, 'batch' | 'retryCount'> {
  /** Longest wait for an answer, from the question to its last byte. */
  timeout: number;
}

/** viem's HTTP transport, whose time-out covers the whole answer: viem's own ends with the headers, and a body may never end. */
export function createRpcTransport(url: string, options: RpcTransportOptions): HttpTransport {
  return http(url, { ...options, maxResponseBodySize: MAX_RESPONSE_BYTES, fetchFn: fetchWhole });
}

/** viem aborts what takes too long until this has resolved. */
const fetchWhole: typeof fetch = async (...request) => {
  const response = await fetch(...request);
  await readAhead(response, MAX_RESPONSE_BYTES);
  return response.ok ? response : withoutType(response);
};

/** viem forgets the status of a failure that says its body is JSON when it is not. */
function withoutType({ body, status, statusText, headers }: Response): Response {
  const others = new Headers(headers);
  others.delete('content-type');
  return new Response(body, { status, statusText, headers: others });
}
