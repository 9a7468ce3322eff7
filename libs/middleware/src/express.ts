import type { IncomingMessage, ServerResponse } from 'node:http';

import { keepPrivate, type Answer } from './answer.js';
import type { Offer } from './challenge.js';
import type { PaymentGate } from './gate.js';
import { holdResponse } from './hold-response.js';
import type { PaidRequest } from './paid-request.js';

/** What Express adds to a request; without it the URL is of this connection. */
type ExpressRequest = IncomingMessage & { readonly protocol?: string; readonly originalUrl?: string };

/** Middleware for what is paid for: `app.get('/weather', paid(gate, { price: '0.001' }), handler)`. */
export function paid(gate: PaymentGate, offer: Offer) {
  const sale = gate.sell(offer);
  return async (request: ExpressRequest, response: ServerResponse, next: (error?: unknown) => void): Promise<void> => {
    const { protocol = 'http', originalUrl = request.url ?? '/', headers, method = 'GET' } = request;
    const admission = await sale.admit({
      method,
      url: `${protocol}://${headers.host ?? 'localhost'}${originalUrl}`,
      header: (name) => headers[name.toLowerCase()] as string | undefined,
    });
    if ('answer' in admission) return send(response, admission.answer);
    response.once('close', () => admission.paid.end());
    holdResponse(response, (pass, restart) => settle(response, admission.paid, pass, restart));
    next();
  };
}

async function settle(
  response: ServerResponse,
  paidRequest: PaidRequest,
  pass: () => void,
  restart: () => void,
): Promise<void> {
  // From 400 on nothing is sold; and where nobody is there to get it, nothing is settled.
  if (response.statusCode >= 400 || response.destroyed) return pass();
  const settlement = await paidRequest.settle();
  if ('answer' in settlement) {
    restart();
    return send(response, settlement.answer);
  }
  for (const [name, value] of Object.entries(settlement.headers)) response.setHeader(name, value);
  response.setHeader('Cache-Control', keepPrivate(response.getHeader('Cache-Control')?.toString()));
  pass();
}

function send(response: ServerResponse, { status, headers, body }: Answer): void {
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.end(body);
}
