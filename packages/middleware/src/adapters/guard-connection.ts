import type { IncomingMessage, ServerResponse } from 'node:http';

/** Methods by which bytes reach a client past the response: of a socket, and of a stream of HTTP/2. */
const SENDERS = new Set<PropertyKey>([
  ...['write', 'end', 'destroySoon', '_write', '_writev', '_final'],
  ...['respond', 'respondWithFile', 'respondWithFD', 'pushStream', 'additionalHeaders', 'sendTrailers'],
]);
/** Those of a response. */
const WRITERS = ['writeHead', 'write', 'end', 'flushHeaders', 'writeContinue', 'writeProcessing', 'writeEarlyHints'];
/** `connection` is read from `socket`. */
const CONNECTIONS = ['socket', 'stream'] as const;

/** What a handler of a paid route gets if it writes where the gate cannot hold the response back. */
function refuseToSend(): never {
  throw new Error(
    "A paid route must not write past its framework's response: that would go out before it is paid. Return the answer.",
  );
}

/** One view for each connection, so that whoever stores something by its connection finds it again. */
const views = new WeakMap<object, object>();

/** The connection as it is, but for the methods that send. */
function viewOf(connection: object): object {
  const known = views.get(connection);
  if (known !== undefined) return known;
  const view: object = new Proxy(connection, {
    get(target, name) {
      if (SENDERS.has(name)) return refuseToSend;
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        const result: unknown = Reflect.apply(value, target, args);
        return result === target ? view : result;
      };
    },
    set: (target, name, value) => Reflect.set(target, name, value, target),
  });
  views.set(connection, view);
  return view;
}

/**
 * Has every attempt to write to the connection of a request throw, past the response. The connection can still be read,
 * as loggers do, listened to and closed.
 * @returns lifts the guard
 */
export function guardConnection(request: IncomingMessage, response: ServerResponse): () => void {
  const lifts = [request, response].flatMap((message) =>
    CONNECTIONS.filter((name) => name in message).map((name) => guard(message, name)),
  );
  return () => {
    for (const lift of lifts) lift();
  };
}

/** The same for a response that is made by other means: writing to it throws, too. */
export function guardResponse(request: IncomingMessage, response: ServerResponse): () => void {
  const unguard = guardConnection(request, response);
  const before = Object.getOwnPropertyDescriptors(response);
  for (const name of WRITERS) Object.defineProperty(response, name, { configurable: true, value: refuseToSend });
  return () => {
    unguard();
    for (const name of WRITERS) {
      const own = Reflect.get(before, name) as PropertyDescriptor | undefined;
      if (own === undefined) Reflect.deleteProperty(response, name);
      else Object.defineProperty(response, name, own);
    }
  };
}

function guard(message: object, name: string): () => void {
  const own = Object.getOwnPropertyDescriptor(message, name);
  // Node assigns it when an earlier response of the connection has ended, and takes it away in the end.
  let assigned: unknown = own?.value;
  const read = (): unknown =>
    own === undefined ? Reflect.get(Object.getPrototypeOf(message) as object, name, message) : assigned;
  Object.defineProperty(message, name, {
    configurable: true,
    enumerable: true,
    get: () => {
      const connection = read();
      return typeof connection === 'object' && connection !== null ? viewOf(connection) : connection;
    },
    set: (value: unknown) => (assigned = value),
  });
  return () => {
    if (own === undefined) Reflect.deleteProperty(message, name);
    else Object.defineProperty(message, name, { ...own, value: assigned });
  };
}
