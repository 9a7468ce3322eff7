import type { ServerResponse } from 'node:http';

import { instructsSharedCaches } from '@tollgate/protocol';

import type { Answer } from '../answer/answer.js';
import type { PaidRequest } from '../gate/gate.js';
import { isForSale } from './conditions.js';
import type { HeldResponse } from './hold-response.js';

/** Settles the payment of a held response of Node and sends it, or sends the gate's answer in its place. */
export async function settleHeld(
  response: ServerResponse,
  paidRequest: PaidRequest,
  held: HeldResponse,
): Promise<void> {
  // Nothing is settled for an error response, or if the client has disconnected.
  if (!isForSale(response.statusCode) || response.destroyed) {
    const retryAfter = response.getHeader('retry-after');
    const told = await paidRequest.decline(response.statusCode, retryAfter === undefined ? null : String(retryAfter));
    if (Object.keys(told).length > 0) addHeaders(response, told);
    return held.pass();
  }
  const body = held.body();
  const sold = { status: response.statusCode, headers: response.getHeaders(), body, isOpen: body === null };
  const settlement = await paidRequest.settle(sold, () => response.destroyed);
  if ('answer' in settlement) return held.replace(() => writeAnswer(response, settlement.answer));
  addHeaders(response, settlement.headers);
  held.pass();
}

export function writeAnswer(response: ServerResponse, { status, headers, body }: Answer): void {
  response.statusCode = status;
  addHeaders(response, headers);
  response.end(body);
}

/** Also drops the headers by which a shared cache would store the response all the same. */
function addHeaders(response: ServerResponse, headers: Answer['headers']): void {
  for (const name of response.getHeaderNames().filter(instructsSharedCaches)) response.removeHeader(name);
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
}
