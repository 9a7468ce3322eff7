import { Readable } from 'node:stream';

import { EXPOSE_HEADERS } from '../../server/cors.js';
import { canonicalName, hopByHopHeaders } from '../route/hop-by-hop-headers.js';

// Only the gateway itself sets these.
const NOT_KEPT = new Set([
  'date',
  'content-length',
  'x-request-id',
  'x-payment-failure',
  'x-payment-response',
  'payment-required',
  'payment-response',
  'payment-receipt',
  'x-payment-released',
  'x-sign-in-failure',
  'idempotent-replayed',
]);

type Headers = readonly (readonly [string, string])[];

/**
 * The resource's headers that belong to its response and can be stored and replayed with it. The length of a stream is
 * kept: by it a client of HTTP/1.0 notices that the stream broke off.
 */
export function keepHeaders(headers: Headers, body: Buffer | Readable | null): [string, string][] {
  const named = headers.flatMap(([name, value]) => (canonicalName(name) === 'connection' ? value : []));
  const hopByHop = hopByHopHeaders(named);
  const isLength = (name: string) => body instanceof Readable && name.toLowerCase() === 'content-length';
  return headers
    .filter(([name]) => isLength(name) || isKept(canonicalName(name), hopByHop))
    .map(([name, value]) => [name, value]);
}

function isKept(name: string, hopByHop: ReadonlySet<string>): boolean {
  if (NOT_KEPT.has(name) || hopByHop.has(name)) return false;
  return name === EXPOSE_HEADERS || !name.startsWith('access-control-');
}
