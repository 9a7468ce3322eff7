import { canonicalName, hopByHopHeaders } from '../../paywall/route/hop-by-hop-headers.js';
import { isPaymentHeader, SET_CREDENTIALS } from './header-rules.js';

/**
 * Headers that describe the host the client sees, which is the gateway and not the upstream, or that instruct shared
 * caches, which must not store a paid response.
 */
const GATEWAYS =
  /^(access-control-.*|alt-svc|strict-transport-security|via|surrogate-control|(.*-)?cdn-cache-control)$/;

/**
 * The headers of an upstream's response that are sent to the client. `raw`: alternating names and values, as received.
 */
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
    return [[name.toLowerCase(), value]];
  });
}
