import type { IncomingMessage, ServerResponse } from 'node:http';

import { instructsSharedCaches } from '@tollgate/protocol';
import type { MiddlewareHandler } from 'hono';

import { guardResponse } from './adapters/guard-connection.js';
import { handleRequest } from './adapters/handle-request.js';
import type { PaymentGate } from './gate/gate.js';
import type { Offer } from './offer/challenge.js';

/** On Node, Hono's environment has Node's own request and response, which go past the gate. */
function guardNode(env: unknown): () => void {
  const { incoming, outgoing } = Object(env) as Partial<Record<'incoming' | 'outgoing', unknown>>;
  const isNode = incoming instanceof Object && outgoing instanceof Object && 'writeHead' in outgoing;
  return isNode ? guardResponse(incoming as IncomingMessage, outgoing as ServerResponse) : () => undefined;
}

/** Middleware of a paid route: `app.get('/weather', paid(gate, { price: '0.001' }), handler)`. */
export function paid(gate: PaymentGate, offer: Offer): MiddlewareHandler {
  const sale = gate.sell(offer);
  return async (context, next) => {
    const headersBefore = [...context.res.headers];
    const { raw } = context.req;
    const isConditional = context.req.method === 'GET' && context.req.header('if-none-match') !== undefined;
    let unguard = (): void => undefined;
    let response = await handleRequest(sale, raw, async (request) => {
      context.req.raw = request;
      unguard = guardNode(context.env);
      await next();
      return context.res;
    }).finally(() => unguard());
    context.req.raw = raw;
    // An etag middleware before the gate has read the condition, and must not find it met: it would drop the paid body.
    if (isConditional && response.ok) {
      response = new Response(response.body, response);
      response.headers.set('ETag', `"${crypto.randomUUID()}"`);
    }
    // Cleared first: assigning over a response would merge its headers into the new one, over the gate's own.
    context.res = undefined;
    context.res = response;
    const present = new Set(response.headers.keys());
    for (const [name, value] of headersBefore) {
      if (!present.has(name) && !instructsSharedCaches(name)) context.res.headers.append(name, value);
    }
  };
}
