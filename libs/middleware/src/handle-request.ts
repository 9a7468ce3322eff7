import { keepPrivate, type Answer } from './answer.js';
import type { Sale } from './gate.js';

/**
 * Sells what `produce` makes, for servers that speak `Request` and `Response`. The body is held back until the payment is
 * settled; from 400 on nothing is settled and it is passed on as it is.
 */
export async function handleRequest(
  sale: Sale,
  request: Request,
  produce: () => Response | Promise<Response>,
): Promise<Response> {
  const { method, url, headers } = request;
  const admission = await sale.admit({ method, url, header: (name) => headers.get(name) ?? undefined });
  if ('answer' in admission) return toResponse(admission.answer);
  const { paid } = admission;
  try {
    const response = await produce();
    // Where nobody is there to get it, nothing is settled.
    if (response.status >= 400 || request.signal.aborted) return response;
    const body = response.body === null ? null : await response.arrayBuffer();
    const settlement = await paid.settle();
    return 'answer' in settlement ? toResponse(settlement.answer) : addHeaders(response, body, settlement.headers);
  } finally {
    paid.end();
  }
}

function toResponse({ status, headers, body }: Answer): Response {
  return new Response(body, { status, headers });
}

function addHeaders(response: Response, body: ArrayBuffer | null, added: Readonly<Record<string, string>>): Response {
  const { status, statusText } = response;
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(added)) headers.set(name, value);
  headers.set('Cache-Control', keepPrivate(headers.get('Cache-Control')));
  return new Response(body, { status, statusText, headers });
}
