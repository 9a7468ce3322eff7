import type { IncomingMessage, ServerResponse } from 'node:http';

import { instructsSharedCaches } from '@tollgate/protocol';

import { dropConditions, isForSale } from './adapters/conditions.js';
import { holdResponse, type HeldResponse } from './adapters/hold-response.js';
import type { Answer } from './answer/answer.js';
import type { PaidRequest, PaymentGate } from './gate/gate.js';
import type { Offer } from './offer/challenge.js';

/** The properties that Express adds to a request. */
type ExpressRequest = IncomingMessage & {
  readonly protocol?: string;
  readonly originalUrl?: string;
  readonly body?: unknown;
};

/** Middleware of a paid route: `app.get('/weather', paid(gate, { price: '0.001' }), handler)`. */
export function paid(gate: PaymentGate, offer: Offer) {
  const sale = gate.sell(offer);
  return async (request: ExpressRequest, response: ServerResponse, next: (error?: unknown) => void): Promise<void> => {
    const { protocol = 'http', originalUrl = request.url ?? '/', headers, method = 'GET' } = request;
    const admission = await sale.admit({
      method,
      url: `${protocol}://${headers.host ?? 'localhost'}${originalUrl}`,
      header: (name) => headers[name.toLowerCase()] as string | undefined,
      // Only available if an earlier middleware has parsed the body.
      readBody: async () => encodeBody(request.body),
    });
    if ('answer' in admission) return send(response, admission.answer);
    // The client disconnected while its payment was verified: the handler does not run, and the client may retry.
    if (response.destroyed) return admission.paid.end();
    response.once('close', () => void admission.paid.end());
    const restore = dropConditions(method, headers);
    holdResponse(response, (held) => {
      restore();
      return settle(response, admission.paid, held);
    });
    next();
  };
}

/** Null for a body that cannot be written as JSON, such as one that is nested too deep: it goes unread. */
function encodeBody(body: unknown): Uint8Array | string | null {
  if (body instanceof Uint8Array) return body;
  try {
    return JSON.stringify(body) ?? null;
  } catch {
    return null;
  }
}

async function settle(response: ServerResponse, paidRequest: PaidRequest, held: HeldResponse): Promise<void> {
  // Nothing is settled for an error response, or if the client has disconnected.
  if (!isForSale(response.statusCode) || response.destroyed) {
    const retryAfter = response.getHeader('retry-after');
    const told = await paidRequest.decline(response.statusCode, retryAfter === undefined ? null : String(retryAfter));
    if (Object.keys(told).length > 0) addHeaders(response, told);
    return held.pass();
  }
  const sold = { status: response.statusCode, headers: response.getHeaders(), body: held.body() };
  const settlement = await paidRequest.settle(sold, () => response.destroyed);
  if ('answer' in settlement) {
    held.restart();
    return send(response, settlement.answer);
  }
  addHeaders(response, settlement.headers);
  held.pass();
}

function send(response: ServerResponse, { status, headers, body }: Answer): void {
  response.statusCode = status;
  addHeaders(response, headers);
  response.end(body);
}

/** Also drops the headers by which a shared cache would store the response all the same. */
function addHeaders(response: ServerResponse, headers: Answer['headers']): void {
  for (const name of response.getHeaderNames().filter(instructsSharedCaches)) response.removeHeader(name);
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
}
