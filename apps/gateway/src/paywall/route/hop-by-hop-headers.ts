/** The hop-by-hop headers of RFC 9110, section 7.6.1, and older ones still in use: they concern the next hop only. */
const HOP_BY_HOP = [
  'connection',
  'proxy-connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
];

/** Treats `_` as `-`: CGI-like upstreams cannot tell them apart, so `X_Forwarded_For` would pass as the real header. */
export function canonicalName(name: string): string {
  return name.toLowerCase().replaceAll('_', '-');
}

/** The hop-by-hop headers of one message: the fixed ones, and those that its Connection header names. */
export function hopByHopHeaders(connection: string | readonly string[] | undefined): Set<string> {
  const named = [connection ?? []].flat().flatMap((value) => value.split(','));
  return new Set([...HOP_BY_HOP, ...named.map((name) => canonicalName(name.trim()))]);
}
