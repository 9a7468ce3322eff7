import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';

import { guardConnection } from './guard-connection.js';

type Headers = OutgoingHttpHeaders | readonly (string | number | string[])[];

/** A response that has been written, wholly or in part, but not sent. */
export interface HeldResponse {
  /** Null while the handler still writes. */
  readonly body: () => Uint8Array | null;
  /** Sends the response; of one that is still written, the rest as it comes. */
  readonly pass: () => void;
  /** Discards the response and the headers set since, and sends another. */
  readonly replace: (send: () => void) => void;
}

export interface HoldTerms {
  /** How many bytes are held of a response that goes on; 0: it is decided with its first byte. */
  readonly maxBytes: number;
  /** Called once: when the response ends, or exceeds `maxBytes`. */
  readonly decide: (held: HeldResponse) => Promise<void>;
}

export interface Hold {
  /** Whether the handler has begun to write. */
  readonly isBegun: () => boolean;
  /** Lets through what is written from now on. Only for a response that has not begun. */
  readonly lift: () => void;
}

/** Buffers what is written to a response, and has every other way to its client throw, until `decide` lets it go. */
export function holdResponse(
  request: IncomingMessage,
  response: ServerResponse,
  { maxBytes, decide }: HoldTerms,
): Hold {
  // Keeps the methods that another middleware may have replaced before.
  const originals = {
    writeHead: response.writeHead.bind(response),
    write: response.write.bind(response),
    end: response.end.bind(response),
    flushHeaders: response.flushHeaders.bind(response),
  };
  // Sent before the response, and thus unpaid.
  const informational = ['writeContinue', 'writeProcessing', 'writeEarlyHints'].filter((name) => name in response);
  const headersBefore = response.getHeaders();
  const chunks: Buffer[] = [];
  let state: 'held' | 'lifted' | 'discarded' = 'held';
  let heldBytes = 0;
  let isBegun = false;
  let isEnded = false;
  let isDecided = false;
  let isAwaitingDrain = false;

  const unguard = guardConnection(request, response);
  const unhold = (next: typeof state): void => {
    state = next;
    unguard();
    for (const name of [...informational, 'headersSent', 'writableEnded']) Reflect.deleteProperty(response, name);
  };
  const lift = (): void => unhold('lifted');
  const pass = (): void => {
    lift();
    const body = Buffer.concat(chunks.splice(0));
    if (isEnded) {
      // A body longer than its Content-Length would be read as the start of the connection's next response.
      if (body.length > 0 && response.hasHeader('content-length')) response.setHeader('Content-Length', body.length);
      originals.end(body.length === 0 ? undefined : body);
    } else if (body.length === 0) originals.flushHeaders();
    else if (originals.write(body) && isAwaitingDrain) response.emit('drain');
  };
  const replace = (send: () => void): void => {
    unhold('discarded');
    Object.assign(response, originals);
    chunks.length = 0;
    response.statusMessage = '';
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    setHeaders(response, headersBefore);
    send();
    Object.assign(response, held);
  };
  const keep = ([chunk, encoding, ...rest]: readonly unknown[]): void => {
    const bytes =
      typeof chunk === 'string'
        ? Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
        : Buffer.from(chunk instanceof Uint8Array ? chunk : []);
    chunks.push(bytes);
    heldBytes += bytes.length;
    const done = [chunk, encoding, ...rest].find((arg) => typeof arg === 'function');
    if (done !== undefined) process.nextTick(done);
  };
  const decideOnce = (): void => {
    if (isDecided) return;
    isDecided = true;
    void decide({ body: () => (isEnded ? Buffer.concat(chunks) : null), pass, replace });
  };

  /** Later middlewares keep references to these, so they let through what comes after the decision. */
  const held = {
    writeHead(status: number, ...rest: unknown[]) {
      if (state === 'lifted') return originals.writeHead(status, ...(rest as [OutgoingHttpHeaders]));
      if (state === 'discarded') return response;
      isBegun = true;
      response.statusCode = status;
      if (typeof rest[0] === 'string') response.statusMessage = rest[0];
      setHeaders(response, rest.find((arg) => typeof arg === 'object') as Headers | undefined);
      return response;
    },
    flushHeaders() {
      if (state === 'lifted') return originals.flushHeaders();
      isBegun = true;
      if (maxBytes === 0) decideOnce();
      return undefined;
    },
    write(...args: unknown[]) {
      if (state === 'lifted') return originals.write(...(args as [Buffer]));
      if (state === 'discarded') return false;
      isBegun = true;
      keep(args);
      if (heldBytes <= maxBytes) return true;
      isAwaitingDrain = true;
      decideOnce();
      return false;
    },
    end(...args: unknown[]) {
      if (state === 'lifted') return originals.end(...(args as [Buffer]));
      if (isEnded || state === 'discarded') return response;
      isBegun = true;
      isEnded = true;
      keep(args);
      decideOnce();
      return response;
    },
  };
  Object.assign(response, held, Object.fromEntries(informational.map((name) => [name, () => undefined])));
  // As without a gate: an error handler that sees that the response has begun aborts it, instead of appending a
  // response of its own.
  Object.defineProperty(response, 'headersSent', { configurable: true, get: () => isBegun });
  Object.defineProperty(response, 'writableEnded', { configurable: true, get: () => isEnded });
  return { isBegun: () => isBegun, lift };
}

/** Takes headers as `writeHead` does: an object, or alternating names and values, in which a name may be repeated. */
function setHeaders(response: ServerResponse, headers: Headers | undefined): void {
  if (!Array.isArray(headers)) {
    for (const [name, value] of Object.entries(headers ?? {})) if (value !== undefined) response.setHeader(name, value);
    return;
  }
  const pairs = headers.flatMap((name: unknown, at) =>
    at % 2 === 0 ? [[String(name), headers[at + 1]] as const] : [],
  );
  for (const [name] of pairs) response.removeHeader(name);
  for (const [name, value] of pairs) response.appendHeader(name, value as string);
}
