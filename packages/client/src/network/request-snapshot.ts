import { IDEMPOTENCY_KEY, parseIdempotencyKey, PaymentError } from '@tollgate/protocol';
import { sha256, stringToBytes } from 'viem';

/** A request that can be sent any number of times, byte for byte. */
export interface RequestSnapshot {
  method: string;
  url: string;
  headers: Headers;
  body: Uint8Array<ArrayBuffer> | null;
  /** The caller's other fetch options: credentials, mode, redirect, ... */
  init: RequestInit;
  signal: AbortSignal | null;
  /** Kept alive because only Node's Request passes on the abort of the signal it was created with. */
  source: Request | null;
  /** Of method, URL and body: tells it from other requests. */
  hash: string;
}

const encoder = new TextEncoder();

/** @throws PaymentError `body_not_replayable` */
export function refuseBody(kind: string): never {
  throw new PaymentError('body_not_replayable', `A body of type ${kind} can be sent only once, or differs each time.`, {
    hint: 'Give a string, URLSearchParams, Blob, ArrayBuffer or typed array: the request is repeated after the payment.',
  });
}

/** The bytes of a body, and the content type fetch would have chosen for it. */
async function readBody(body: unknown): Promise<{ bytes: Uint8Array<ArrayBuffer>; type: string | null }> {
  if (typeof body === 'string') return { bytes: encoder.encode(body), type: 'text/plain;charset=UTF-8' };
  if (body instanceof URLSearchParams) {
    return { bytes: encoder.encode(body.toString()), type: 'application/x-www-form-urlencoded;charset=UTF-8' };
  }
  if (body instanceof Blob) return { bytes: new Uint8Array(await body.arrayBuffer()), type: body.type || null };
  if (body instanceof ArrayBuffer) return { bytes: new Uint8Array(body.slice(0)), type: null };
  if (ArrayBuffer.isView(body)) {
    const view = new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
    return { bytes: Uint8Array.from(view), type: null };
  }
  return refuseBody(Object.prototype.toString.call(body).slice(8, -1));
}

/** Names a thing in the store by all that tells it from others. */
export const hashOf = (parts: readonly string[]): string => sha256(stringToBytes(JSON.stringify(parts))).slice(2);

/**
 * Copies the arguments of a fetch call.
 * @throws PaymentError `body_not_replayable` for streams, iterables and FormData (its boundary differs each time).
 */
export async function takeRequest(input: Request | string | URL, init: RequestInit = {}): Promise<RequestSnapshot> {
  const request = input instanceof Request ? input : null;
  const base = (globalThis as { location?: { href: string } }).location?.href;
  const url = new URL(input instanceof Request ? input.url : input, base);
  url.hash = '';
  const headers = new Headers(init.headers ?? request?.headers);
  let body: Uint8Array<ArrayBuffer> | null = null;
  if (init.body !== undefined && init.body !== null) {
    const { bytes, type } = await readBody(init.body);
    body = bytes;
    if (type !== null && !headers.has('content-type')) headers.set('content-type', type);
  } else if (request?.body) {
    body = new Uint8Array(await request.clone().arrayBuffer());
  }
  const { signal = request?.signal ?? null } = init;
  const method = (init.method ?? request?.method ?? 'GET').toUpperCase();
  const { credentials, redirect, mode } = request ?? {};
  return {
    method,
    url: url.href,
    headers,
    body,
    init: request
      ? { ...(credentials && { credentials }), ...(redirect && { redirect }), ...(mode && { mode }), ...init }
      : init,
    signal,
    source: request,
    hash: hashOf([method, url.href, body ? sha256(body) : '']),
  };
}

/** The key of the request in the store: of the caller's own idempotency key, or else of what it asks for. */
export function requestKey(request: RequestSnapshot): string {
  const key = request.headers.get(IDEMPOTENCY_KEY);
  return key === null ? request.hash : hashOf([IDEMPOTENCY_KEY, parseIdempotencyKey(key) ?? key]);
}

/** Arguments for another fetch of the same request. */
export function toInit(
  { method, body, init }: RequestSnapshot,
  change: { headers: Headers; redirect?: NonNullable<RequestInit['redirect']>; signal: AbortSignal | null },
): RequestInit {
  return { ...init, ...change, method, body };
}
