import { instructsSharedCaches } from '@tollgate/protocol';

import type { Answer } from '../answer/answer.js';
import type { Sale } from '../gate/gate.js';
import { concatBytes } from '../present/digest.js';
import { BrokenBodyError } from '../present/shown-payment.js';
import { isForSale, withoutConditions } from './conditions.js';
import { continueStream, holdStream } from './hold-stream.js';

/** Limit of a request body that is read before the handler runs. */
const MAX_BODY_BYTES = 1_048_576;

/**
 * Sells the response of `produce`, for servers that use `Request` and `Response`. The body is held back until the
 * payment is settled: to its end, or up to `maxHeldBytes`. An error response (status 400 or above) is passed on without settlement, and so is a 304. If the
 * client disconnects before, its payment is released at once, whatever `produce` still waits for.
 * @param produce gets the request without what could make less than the whole answer
 * @throws what `produce` throws, and TypeError if it returns no usable response; then nothing is settled
 */
export async function handleRequest(
  sale: Sale,
  request: Request,
  produce: (request: Request) => Response | Promise<Response>,
): Promise<Response> {
  const { method, url, headers } = request;
  const header = (name: string): string | undefined => headers.get(name) ?? undefined;
  const isGone = (): boolean => request.signal.aborted;
  const admission = await sale.admit({ method, url, header, readBody: () => readBody(request), isGone });
  if ('answer' in admission) return toResponse(admission.answer);
  const { paid } = admission;
  const { signal } = request;
  if (signal.aborted) {
    await paid.end();
    // The client has disconnected, so it does not receive this response.
    return new Response(null, { status: 499 });
  }
  const end = (): void => void paid.end();
  signal.addEventListener('abort', end);
  try {
    const admitted = withoutConditions(request);
    const response = await produce(admitted.request);
    admitted.restore();
    // The error response of a fetch, or an upgraded connection: neither can be recreated with a receipt.
    if (response.status < 200) throw new TypeError(`A response with status ${response.status} cannot be sold.`);
    if (response.bodyUsed) throw new TypeError('A response whose body was read before cannot be sold.');
    // Nothing is settled for an error response, or if the client has disconnected.
    if (!isForSale(response.status) || signal.aborted) {
      const told = await paid.decline(response.status, response.headers.get('retry-after'));
      return Object.keys(told).length > 0 ? addHeaders(response, response.body, told) : response;
    }
    const source = response.body === null ? null : readerOf(response.body, signal);
    const held = source && (await holdStream(source, paid.maxHeldBytes));
    const isOpen = held?.isOpen === true;
    const answer = {
      status: response.status,
      headers: collectHeaders(response.headers),
      body: held?.bytes ?? null,
      isOpen,
    };
    const settlement = await paid.settle(answer, isGone);
    if ('answer' in settlement) {
      await source?.return?.();
      return toResponse(settlement.answer);
    }
    const body = source && held?.isOpen === true ? continueStream(held.bytes, source) : (held?.bytes ?? null);
    return addHeaders(response, body, settlement.headers);
  } finally {
    signal.removeEventListener('abort', end);
    await paid.end();
  }
}

/** Once the client has disconnected, the body is cancelled and ends. */
function readerOf(body: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncIterator<unknown> {
  const reader = body.getReader();
  const cancel = (): Promise<void> => reader.cancel().catch(() => undefined);
  if (signal.aborted) void cancel();
  signal.addEventListener('abort', () => void cancel(), { once: true });
  return {
    next: () => reader.read() as Promise<IteratorResult<unknown>>,
    return: () => cancel().then(() => ({ value: undefined, done: true })),
  };
}

/**
 * Reads a copy, so that the handler can still read the body; null if there is no body or it is too large.
 * @throws BrokenBodyError
 */
async function readBody(request: Request): Promise<Uint8Array | null> {
  if (request.body === null || request.bodyUsed) return null;
  const reader = (request.clone().body as ReadableStream<Uint8Array>).getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  const read = (): ReturnType<typeof reader.read> =>
    reader.read().catch((cause: unknown) => {
      throw new BrokenBodyError('The request broke off.', { cause });
    });
  for (let part = await read(); !part.done; part = await read()) {
    length += part.value.length;
    if (length > MAX_BODY_BYTES) {
      // Not awaited: it completes only when the handler's own copy does, which has not been read yet.
      reader.cancel().catch(() => undefined);
      return null;
    }
    chunks.push(part.value);
  }
  return concatBytes(chunks);
}

function collectHeaders(headers: Headers): Record<string, string | string[]> {
  const cookies = headers.getSetCookie();
  return { ...Object.fromEntries(headers), ...(cookies.length > 0 && { 'set-cookie': cookies }) };
}

function toResponse({ status, headers, body }: Answer): Response {
  const entries = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, one]),
  );
  // Some statuses allow no body, not even an empty one.
  return new Response(body.length === 0 ? null : body, { status, headers: entries });
}

/** Also drops the headers by which a shared cache would store the response all the same. */
function addHeaders(
  response: Response,
  body: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer> | null,
  added: Readonly<Record<string, string>>,
): Response {
  const { status, statusText } = response;
  const headers = new Headers(response.headers);
  for (const name of [...headers.keys()].filter(instructsSharedCaches)) headers.delete(name);
  for (const [name, value] of Object.entries(added)) headers.set(name, value);
  return new Response(body, { status, statusText, headers });
}
