// Of one connection (RFC 9110, 7.6.1), or stated by this server alone.
const NOT_KEPT = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'date',
  'content-length',
  'x-request-id',
  'x-payment-failure',
  'x-payment-released',
  'idempotent-replayed',
]);

function isKept(name: string, dropped: ReadonlySet<string>): boolean {
  return !NOT_KEPT.has(name) && !dropped.has(name) && !name.startsWith('access-control-');
}

type Headers = readonly (readonly [string, string])[];

/** The headers of a resource that belong to its answer, wherever and whenever that is given. */
export function keepHeaders(headers: Headers): [string, string][] {
  const connection = headers.filter(([name]) => name.toLowerCase() === 'connection');
  const dropped = new Set(
    connection.flatMap(([, value]) => value.split(',').map((token) => token.trim().toLowerCase())),
  );
  return headers.filter(([name]) => isKept(name.toLowerCase(), dropped)).map(([name, value]) => [name, value]);
}

/** A paid answer is for who paid: no shared cache may keep it, whatever the resource says. */
export function privateCacheControl(headers: Headers): string {
  const stated = headers.filter(([name]) => name.toLowerCase() === 'cache-control').map(([, value]) => value);
  return stated.some((value) => /\bno-store\b/i.test(value)) ? 'private, no-store' : 'private';
}
