import { withoutConsoleCookie } from '@tollgate/http';
import { instructsSharedCaches } from '@tollgate/protocol';

import { readableCodings } from '../../paywall/route/content-coding.js';
import { canonicalName, hopByHopHeaders } from '../../paywall/route/hop-by-hop-headers.js';
import type { PaidRoute, ResourceRequest } from '../../paywall/route/paid-route.js';

/**
 * Payment headers concern only client and gateway: no upstream sees a payment, and none can forge a payment header of
 * the gateway.
 */
const PAYMENT =
  /^(x-payment(-.*)?|payment(-.*)?|idempotency-key|idempotent-replayed|sign-in-with-x|x-sign-in-failure|tollgate-charge)$/;

/**
 * Response header in which the upstream of a metered route reports the charge, in units of the asset. It is not sent to
 * the client.
 */
export const CHARGE = 'tollgate-charge';

const CREDENTIALS: ReadonlySet<string> = new Set(['authorization', 'cookie', 'cookie2']);
const SET_CREDENTIALS: ReadonlySet<string> = new Set(['set-cookie', 'set-cookie2', 'clear-site-data']);

function isPaymentHeader(canonical: string): boolean {
  return PAYMENT.test(canonical);
}

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
 * Some upstreams let these override the request line or `Range`, but the payment is for the path and method of the
 * request line, and for that range.
 */
const OTHER_REQUEST =
  /^(x-(original|rewrite|request)-(url|uri|path)|x-envoy-original-path|x-http-method(-override)?|x-method-override|request-range|x-ms-range)$/;
/** These ask for a part, and a stored answer is replayed to clients that ask for the whole. */
const RANGES = new Set(['range', 'if-range']);
/** These could cause a 304, a response without a body: it would be charged, and a retry would get it again. */
const CONDITIONS = new Set(['if-none-match', 'if-modified-since']);
const ACCEPT_ENCODING = 'accept-encoding';
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
export function createUpstreamHeaders(
  request: ResourceRequest,
  rules: UpstreamHeaderRules,
  answer: PaidRoute['answer'],
): string[] {
  const own: [string, string][] = [
    ['x-forwarded-for', request.clientAddress],
    ...forwardedTo(rules.publicUrl),
    ['x-request-id', request.requestId],
    ['via', '1.1 tollgate'],
    ['idempotency-key', request.idempotencyKey],
  ];
  const set = new Set([...own, ...rules.added].map(([name]) => canonicalName(name)));
  if (answer === 'stored' && !set.has(ACCEPT_ENCODING)) {
    // A stored answer must be readable for who asks for it again.
    own.push([ACCEPT_ENCODING, readableCodings(request.headers[ACCEPT_ENCODING]).join(', ') || 'identity']);
    set.add(ACCEPT_ENCODING);
  }
  const hopByHop = hopByHopHeaders(request.headers.connection);

  const passed: [string, string][] = [];
  for (const [name, value] of Object.entries(request.headers)) {
    const canonical = canonicalName(name);
    if (value === undefined || set.has(canonical) || hopByHop.has(canonical)) continue;
    if (OURS.test(canonical) || OTHER_REQUEST.test(canonical) || isPaymentHeader(canonical)) continue;
    if (CREDENTIALS.has(canonical) && !rules.passCredentials) continue;
    if (RANGES.has(canonical) && answer === 'stored') continue;
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

/** Headers that describe the host the client sees, which is the gateway and not the upstream. */
const GATEWAYS = /^(access-control-(?!expose-headers$).*|alt-svc|strict-transport-security|via)$/;

export interface AnswerHeaderRules {
  readonly passCredentials: boolean;
  readonly keepLength: boolean;
  readonly answer: PaidRoute['answer'];
  /** The URL for the client of one that the response refers to; null where it has none. */
  readonly publish: (reference: string) => string | null;
}

/**
 * The headers of an upstream's response that are sent to the client. `raw`: alternating names and values, as received.
 */
export function createAnswerHeaders(
  raw: readonly string[],
  { passCredentials, keepLength, answer, publish }: AnswerHeaderRules,
): [string, string][] {
  const pairs: [name: string, value: string][] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) pairs.push([raw[index] ?? '', raw[index + 1] ?? '']);
  const named = pairs.flatMap(([name, value]) => (canonicalName(name) === 'connection' ? value : []));
  const hopByHop = hopByHopHeaders(named);

  const kept = pairs.flatMap(([name, value]): [string, string][] => {
    const canonical = canonicalName(name);
    if (hopByHop.has(canonical) || isPaymentHeader(canonical) || GATEWAYS.test(canonical)) return [];
    if (instructsSharedCaches(canonical)) return [];
    if (SET_CREDENTIALS.has(canonical) && !passCredentials) return [];
    if (canonical === 'content-length' && !keepLength) return [];
    if (canonical === 'accept-ranges' && answer === 'stored') return [];
    if (canonical === 'www-authenticate' && /^\s*payment\b/i.test(value)) return [];
    const published = publishReferences(canonical, value, publish);
    return published === null ? [] : [[name.toLowerCase(), published]];
  });
  return answer === 'stored' ? [...kept, ['accept-ranges', 'none']] : kept;
}

type Publish = (reference: string) => string | null;

// Each matches from where it begins without a second try, or a long header would hold up every request.
/** A quote that is not closed takes the rest. */
const LINK = /<([^<>]*)>((?:"(?:[^"\\]|\\.)*(?:"|\\?$)|[^",<])*)/g;
/** What browsers skip before the URL: all of it may be missing. */
const REFRESH_START = /^[\s\d.]*[;,]?\s*(?:url\s*=\s*)?["']?/i;

/**
 * A header of an upstream that refers to URLs, with those that a client has in their place; null where nothing is left.
 * Any other header is returned as it is.
 * @param name in canonical form
 */
function publishReferences(name: string, value: string, publish: Publish): string | null {
  switch (name) {
    case 'location':
    case 'content-location':
      return publish(value);
    case 'refresh': {
      const [start = ''] = REFRESH_START.exec(value) ?? [];
      const [quote = ''] = /["']?$/.exec(start) ?? [];
      const [reference = ''] = quote === '' ? [value.slice(start.length)] : value.slice(start.length).split(quote, 1);
      if (reference === '') return value;
      const url = publish(reference);
      return url && start + url + quote;
    }
    case 'link': {
      const links = [...value.matchAll(LINK)].flatMap(([, reference = '', parameters = '']) => {
        const url = publish(reference);
        return url === null ? [] : `<${url}>${parameters.trimEnd()}`;
      });
      return links.length === 0 ? null : links.join(', ');
    }
    default:
      return value;
  }
}
