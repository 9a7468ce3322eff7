import { IDEMPOTENCY_KEY } from '@tollgate/protocol';

import { readAhead } from '../network/read-body.js';
import { toInit, type RequestSnapshot } from '../network/request-snapshot.js';

interface Sending {
  url: string;
  headers: Headers;
  timeoutMs: number;
  /** `manual` with a proof in the headers, so that it reaches only the intended server. */
  redirect: 'manual' | 'follow';
}

export interface SentRequest {
  response: Response;
  /** The time-out runs until this is called, so that it can cover the body as well. */
  stopTimer: () => void;
}

/** Sends one request. */
export async function sendRequest(
  fetch: typeof globalThis.fetch,
  request: RequestSnapshot,
  { url, headers, timeoutMs, redirect }: Sending,
): Promise<SentRequest> {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    controller.abort(new DOMException('The server took too long to answer.', 'TimeoutError'));
  }, timeoutMs);
  const signal = request.signal ? AbortSignal.any([request.signal, controller.signal]) : controller.signal;
  try {
    const response = await fetch(url, toInit(request, { headers, redirect, signal }));
    return { response, stopTimer: () => clearTimeout(timer) };
  } catch (error) {
    clearTimeout(timer);
    throw error;
  }
}

/** The longest answer that is read before it is returned: what gates store for a repetition by default. */
const MAX_BUFFERED_BYTES = 1024 * 1024;

/**
 * Reads a copy of the body to its end, so that an incomplete answer is requested again instead of being returned. Event
 * streams and answers over 1 MiB are returned as they arrive.
 * @returns whether the whole body was read
 * @throws any error of reading the body.
 */
export async function receiveAnswer(response: Response): Promise<boolean> {
  // A 204 has none.
  if (!response.body) return true;
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  const isLong = Number(response.headers.get('content-length') ?? 0) > MAX_BUFFERED_BYTES;
  return !isStream && !isLong && readAhead(response, MAX_BUFFERED_BYTES);
}

const REDIRECTS = [301, 302, 303, 307, 308];
/** As fetch does, and the caller's key belongs to the purchase. */
const FOR_ONE_ORIGIN = ['authorization', 'cookie', 'proxy-authorization', IDEMPOTENCY_KEY];

export interface SoldTarget {
  request: RequestSnapshot;
  url: string;
  headers: Headers;
}

/**
 * The request that fetch would make next for a redirect that was sold. Null if the response is none, if the caller does
 * not follow redirects, or if a method with a body would be repeated elsewhere.
 */
export function findSoldTarget(request: RequestSnapshot, response: Response, from: string): SoldTarget | null {
  const location = response.headers.get('location');
  const isFollowed = (request.init.redirect ?? 'follow') === 'follow';
  if (!isFollowed || location === null || !REDIRECTS.includes(response.status) || !URL.canParse(location, from))
    return null;
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (!isRead && response.status >= 307) return null;
  const headers = new Headers(request.headers);
  const url = new URL(location, from);
  if (url.origin !== new URL(from).origin) for (const name of FOR_ONE_ORIGIN) headers.delete(name);
  if (isRead) return { request, url: url.href, headers };
  headers.delete('content-type');
  return { request: { ...request, method: 'GET', body: null }, url: url.href, headers };
}
