import { IDEMPOTENCY_KEY } from '@tollgate/protocol';

import type { RequestSnapshot } from '../network/request-snapshot.js';

const REDIRECTS = [301, 302, 303, 307, 308];
/** As fetch does, and the caller's key belongs to the purchase. */
const FOR_ONE_ORIGIN = ['authorization', 'cookie', 'proxy-authorization', IDEMPOTENCY_KEY];

export interface SoldTarget {
  request: RequestSnapshot;
  url: string;
  headers: Headers;
}

/**
 * The request that fetch would make next for a redirect that was sold. Null if the response is none, if the caller does
 * not follow redirects, or if a method with a body would be repeated elsewhere.
 */
export function findSoldTarget(request: RequestSnapshot, response: Response, from: string): SoldTarget | null {
  const location = response.headers.get('location');
  const isFollowed = (request.init.redirect ?? 'follow') === 'follow';
  if (!isFollowed || location === null || !REDIRECTS.includes(response.status) || !URL.canParse(location, from))
    return null;
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (!isRead && response.status >= 307) return null;
  const headers = new Headers(request.headers);
  const url = new URL(location, from);
  if (url.origin !== new URL(from).origin) for (const name of FOR_ONE_ORIGIN) headers.delete(name);
  if (isRead) return { request, url: url.href, headers };
  headers.delete('content-type');
  return { request: { ...request, method: 'GET', body: null }, url: url.href, headers };
}
