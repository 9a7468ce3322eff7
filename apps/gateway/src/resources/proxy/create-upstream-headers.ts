import { withoutConsoleCookie } from '@tollgate/common';

import { canonicalName, hopByHopHeaders } from '../../paywall/route/hop-by-hop-headers.js';
import type { ResourceRequest } from '../../paywall/route/paid-route.js';
import { CREDENTIALS, isPaymentHeader } from './header-rules.js';

export interface UpstreamHeaderRules {
  /** Added to every request and override the client's; API keys of the upstream go here. */
  readonly added: readonly (readonly [name: string, value: string])[];
  /** Whether the client's Authorization and Cookie are forwarded. */
  readonly passCredentials: boolean;
  /** Where clients reach the gateway: the source of X-Forwarded-Proto and -Host. */
  readonly publicUrl?: string | undefined;
}

/** Set by the gateway, or meant for it: the client's own are never forwarded. */
const OURS = /^(host|content-length|expect|forwarded|x-forwarded(-.*)?|x-real-ip|x-request-id|via)$/;
/**
 * Some upstreams let these override the request line, but the payment is for the path and method of the request line.
 */
const OTHER_REQUEST =
  /^(x-(original|rewrite|request)-(url|uri|path)|x-envoy-original-path|x-http-method(-override)?|x-method-override)$/;
/** These could cause a 304, a response without a body: it would be charged, and a retry would get it again. */
const CONDITIONS = new Set(['if-none-match', 'if-modified-since']);
const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);

export function isSafeMethod(method: string): boolean {
  return SAFE.has(method);
}

/** Whether the gateway sets a header itself, so that neither client nor operator can. */
export function isReservedHeader(name: string): boolean {
  const canonical = canonicalName(name);
  const mayBeSet = canonical === 'host';
  return !mayBeSet && (OURS.test(canonical) || isPaymentHeader(canonical) || hopByHopHeaders(undefined).has(canonical));
}

/** The headers of a request to the upstream: alternating names and values. */
export function createUpstreamHeaders(request: ResourceRequest, rules: UpstreamHeaderRules): string[] {
  const own: [string, string][] = [
    ['x-forwarded-for', request.clientAddress],
    ...forwardedTo(rules.publicUrl),
    ['x-request-id', request.requestId],
    ['via', '1.1 tollgate'],
    ['idempotency-key', request.idempotencyKey],
  ];
  const set = new Set([...own, ...rules.added].map(([name]) => canonicalName(name)));
  const hopByHop = hopByHopHeaders(request.headers.connection);

  const passed: [string, string][] = [];
  for (const [name, value] of Object.entries(request.headers)) {
    const canonical = canonicalName(name);
    if (value === undefined || set.has(canonical) || hopByHop.has(canonical)) continue;
    if (OURS.test(canonical) || OTHER_REQUEST.test(canonical) || isPaymentHeader(canonical)) continue;
    if (CREDENTIALS.has(canonical) && !rules.passCredentials) continue;
    if (CONDITIONS.has(canonical) && isSafeMethod(request.method)) continue;
    // A console on the same host shares its cookies, and its session is for no upstream.
    const values = [value].flat().flatMap((one) => (canonical === 'cookie' ? (withoutConsoleCookie(one) ?? []) : one));
    for (const one of values) passed.push([name, one]);
  }
  return [...passed, ...own, ...rules.added].flat();
}

function forwardedTo(publicUrl: string | undefined): [string, string][] {
  if (publicUrl === undefined) return [];
  const { protocol, host } = new URL(publicUrl);
  return [
    ['x-forwarded-proto', protocol.slice(0, -1)],
    ['x-forwarded-host', host],
  ];
}
