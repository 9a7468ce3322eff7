import { parseJson } from '@tollgate/client/internal';
import { stringToBytes } from 'viem';

import type { OwnHeaders, PricedRequest } from '../types/plan.js';

/** The options of fetch for the request. The program's own headers win; a redirect is never followed. */
export function createInit(
  { url, method = 'GET', body, headers = {} }: PricedRequest,
  own: OwnHeaders = {},
): RequestInit & { headers: Headers } {
  const all = new Headers(headers);
  if (body !== undefined && !all.has('content-type') && parseJson(body) !== undefined)
    all.set('content-type', 'application/json');
  for (const [name, value] of Object.entries(own[new URL(url).origin] ?? {})) all.set(name, value);
  return { method, headers: all, redirect: 'manual', ...(body !== undefined && { body }) };
}

/** `POST "https://…" with a body of 12 bytes`; a GET is its URL alone. */
export function showRequest({ url, method = 'GET', body, headers = {} }: PricedRequest): string {
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  return [
    ...(method === 'GET' ? [] : [method]),
    url,
    ...(body === undefined ? [] : [`with a body of ${stringToBytes(body).length} bytes`]),
    ...(names.length === 0 ? [] : [`with the headers ${names.join(', ')}`]),
  ].join(' ');
}
