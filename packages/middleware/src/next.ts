import { handleRequest } from './adapters/handle-request.js';
import type { PaymentGate } from './gate/gate.js';
import type { Offer } from './offer/challenge.js';

/**
 * A paid route handler for Next's App Router: `export const GET = paid(gate, { price: '0.001' }, handler)`. It works
 * with any server that calls a handler with a `Request`.
 */
export function paid<Incoming extends Request, Rest extends unknown[]>(
  gate: PaymentGate,
  offer: Offer,
  handler: (request: Incoming, ...rest: Rest) => Response | Promise<Response>,
): (request: Incoming, ...rest: Rest) => Promise<Response> {
  const sale = gate.sell(offer);
  // The gate makes a copy only where it cannot change the headers; such servers pass a plain Request.
  return (request, ...rest) => handleRequest(sale, request, (admitted) => handler(admitted as Incoming, ...rest));
}
