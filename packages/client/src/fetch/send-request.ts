import { readAhead } from '../network/read-body.js';
import { toInit, type RequestSnapshot } from '../network/request-snapshot.js';

export interface Sending {
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
