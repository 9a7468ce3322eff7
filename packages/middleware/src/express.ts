import type { IncomingMessage, ServerResponse } from 'node:http';

import { dropConditions } from './adapters/conditions.js';
import { holdResponse } from './adapters/hold-response.js';
import { writeAnswer, settleHeld } from './adapters/settle-held.js';
import type { PaymentGate } from './gate/gate.js';
import type { Offer } from './offer/challenge.js';

/** The properties that Express adds to a request. */
type ExpressRequest = IncomingMessage & {
  readonly protocol?: string;
  readonly originalUrl?: string;
  readonly body?: unknown;
  readonly app?: { get(setting: string): unknown };
};

/** Middleware of a paid route: `app.get('/weather', paid(gate, { price: '0.001' }), handler)`. */
export function paid(gate: PaymentGate, offer: Offer) {
  const sale = gate.sell(offer);
  return async (request: ExpressRequest, response: ServerResponse, next: (error?: unknown) => void): Promise<void> => {
    const { protocol = 'http', originalUrl = request.url ?? '/', headers, method = 'GET' } = request;
    const admission = await sale.admit({
      method,
      url: `${protocol}://${hostOf(request)}${originalUrl}`,
      header: (name) => headers[name.toLowerCase()] as string | undefined,
      isGone: () => response.destroyed,
      // Only available if an earlier middleware has parsed the body.
      readBody: async () => encodeBody(request.body),
    });
    if ('answer' in admission) return writeAnswer(response, admission.answer);
    // The client disconnected while its payment was verified: the handler does not run, and the client may retry.
    if (response.destroyed) return void (await admission.paid.end());
    response.once('close', () => void admission.paid.end());
    const restore = dropConditions(method, headers);
    const { paid: paidRequest } = admission;
    holdResponse(request, response, {
      maxBytes: paidRequest.maxHeldBytes,
      decide: (held) => {
        restore();
        return settleHeld(response, paidRequest, held);
      },
    });
    next();
  };
}

/** What a proxy forwards, if Express is set to trust it. Express 4 itself leaves out the port. */
function hostOf({ app, socket, headers }: ExpressRequest): string {
  const trusts = app?.get('trust proxy fn') as ((address: string | undefined, hop: number) => boolean) | undefined;
  const forwarded = trusts?.(socket.remoteAddress, 0) === true ? headers['x-forwarded-host'] : undefined;
  const [host = ''] = String(forwarded ?? headers.host ?? 'localhost').split(',');
  return host.trim();
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
