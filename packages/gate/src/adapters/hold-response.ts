import type { ServerResponse, OutgoingHttpHeaders } from 'node:http';

type Headers = OutgoingHttpHeaders | readonly (string | number | string[])[];

/** A response that has been written but not sent. */
export interface HeldResponse {
  readonly body: () => Uint8Array;
  /** Sends the response. */
  readonly pass: () => void;
  /** Discards the response and the headers set since, so that another can be sent. */
  readonly restart: () => void;
}

/** Buffers a response until it ends, then calls `decide`. */
export function holdResponse(response: ServerResponse, decide: (held: HeldResponse) => Promise<void>): void {
  // Keeps the methods that another middleware may have replaced before.
  const originals = {
    writeHead: response.writeHead.bind(response),
    write: response.write.bind(response),
    end: response.end.bind(response),
    flushHeaders: response.flushHeaders.bind(response),
  };
  const headersBefore = response.getHeaders();
  const chunks: Buffer[] = [];
  let isBegun = false;
  let isEnded = false;

  const restore = (): void => {
    Object.assign(response, originals);
    Reflect.deleteProperty(response, 'headersSent');
  };
  const pass = (): void => {
    restore();
    const body = Buffer.concat(chunks);
    // A body longer than its Content-Length would be read as the start of the connection's next response.
    if (body.length > 0 && response.hasHeader('content-length')) response.setHeader('Content-Length', body.length);
    response.end(body.length === 0 ? undefined : body);
  };
  const restart = (): void => {
    restore();
    response.statusMessage = '';
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    setHeaders(response, headersBefore);
  };
  const keep = (args: readonly unknown[]): void => {
    const [chunk, encoding] = args;
    if (typeof chunk === 'string')
      chunks.push(Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8'));
    else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
    const done = args.find((arg) => typeof arg === 'function');
    if (done !== undefined) process.nextTick(done);
  };

  Object.assign(response, {
    writeHead(status: number, ...rest: readonly unknown[]) {
      isBegun = true;
      response.statusCode = status;
      if (typeof rest[0] === 'string') response.statusMessage = rest[0];
      setHeaders(response, rest.find((arg) => typeof arg === 'object') as Headers | undefined);
      return response;
    },
    flushHeaders() {
      isBegun = true;
    },
    write(...args: readonly unknown[]) {
      isBegun = true;
      keep(args);
      return true;
    },
    end(...args: readonly unknown[]) {
      if (isEnded) return response;
      isBegun = true;
      isEnded = true;
      keep(args);
      void decide({ body: () => Buffer.concat(chunks), pass, restart });
      return response;
    },
  });
  // As without a gate: an error handler that sees that the response has begun aborts it, instead of appending a
  // response of its own.
  Object.defineProperty(response, 'headersSent', { configurable: true, get: () => isBegun });
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
