import { X_PAYMENT_RELEASED } from '@tollgate/protocol';

/** These could cause a 304, a response without the body that the client pays for. */
const CONDITIONS = ['if-none-match', 'if-modified-since'] as const;

/** Tells a client that a 304 has not used up its payment, as other successful answers have. */
export const NOT_SOLD = { [X_PAYMENT_RELEASED]: 'true' };

/**
 * Whether a handler's response may be sold: no error, and no 304, which a handler may send without having been asked
 * for it.
 */
export function isForSale(status: number): boolean {
  return status < 400 && status !== 304;
}

/** Removes the conditions of a paid GET from Node's headers, before a handler reads them. */
export function dropConditions(method: string, headers: Record<string, unknown>): void {
  if (method === 'GET') for (const name of CONDITIONS) Reflect.deleteProperty(headers, name);
}

/**
 * A paid GET without its conditions: the same request if its headers can be changed, which those of some servers
 * cannot.
 */
export function withoutConditions(request: Request): Request {
  if (request.method !== 'GET' || !CONDITIONS.some((name) => request.headers.has(name))) return request;
  try {
    for (const name of CONDITIONS) request.headers.delete(name);
    return request;
  } catch {
    const headers = new Headers(request.headers);
    for (const name of CONDITIONS) headers.delete(name);
    return new Request(request, { headers });
  }
}
