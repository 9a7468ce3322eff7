import { canonicalName, hopByHopHeaders, isPaymentHeader, SET_CREDENTIALS } from './header-rules.js';

/**
 * Speak for the host the client sees, which is the gateway and not the upstream; or to shared caches, which must not
 * keep what was sold once.
 */
const GATEWAYS =
  /^(access-control-.*|alt-svc|strict-transport-security|via|surrogate-control|(.*-)?cdn-cache-control)$/;

/** What of an upstream's headers reaches the client. `raw`: name and value in turn, as they came. */
export function createAnswerHeaders(
  raw: readonly string[],
  { passCredentials, keepLength }: { readonly passCredentials: boolean; readonly keepLength: boolean },
): [string, string][] {
  const pairs: [name: string, value: string][] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) pairs.push([raw[index] ?? '', raw[index + 1] ?? '']);
  const named = pairs.flatMap(([name, value]) => (canonicalName(name) === 'connection' ? value : []));
  const hopByHop = hopByHopHeaders(named);

  return pairs.flatMap(([name, value]): [string, string][] => {
    const canonical = canonicalName(name);
    if (hopByHop.has(canonical) || isPaymentHeader(canonical) || GATEWAYS.test(canonical)) return [];
    if (SET_CREDENTIALS.has(canonical) && !passCredentials) return [];
    if (canonical === 'content-length' && !keepLength) return [];
    if (canonical === 'www-authenticate' && /^\s*payment\b/i.test(value)) return [];
    if (canonical === 'cache-control') return [['cache-control', privateCacheControl(value)]];
    return [[name.toLowerCase(), value]];
  });
}

/** What was sold to one client is not for shared caches, whatever the upstream says. */
function privateCacheControl(value: string): string {
  const shared = /^(public|private|s-maxage|proxy-revalidate)\b/i;
  const kept = value
    .split(',')
    .map((directive) => directive.trim())
    .filter((directive) => directive !== '' && !shared.test(directive));
  return kept.some((directive) => /^no-store$/i.test(directive)) ? kept.join(', ') : ['private', ...kept].join(', ');
}
