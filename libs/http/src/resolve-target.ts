import type { LookupAddress } from 'node:dns';
import { lookup, Resolver } from 'node:dns/promises';

import { isPublicAddress } from './public-address.js';
import { parseTarget, refusePrivate, TargetRefusedError, type TargetRules } from './target-rules.js';

/**
 * All addresses of a host name. @throws TargetRefusedError `private_target`; the name server's error when there is no
 * address
 */
export type ResolveTarget = (hostname: string) => Promise<LookupAddress[]>;

const QUERY_TIMEOUT_MS = 2_000;
const TRIES = 2;

/** Resolves host names, and refuses those with any private address, even among public ones. */
export function createTargetResolver({ allowPrivateTargets, nameServers }: TargetRules): ResolveTarget {
  // The system's resolver also knows the hosts file and the names of containers.
  if (allowPrivateTargets && !nameServers) return (hostname) => lookup(hostname, { all: true });

  // Queries name servers directly: the system's resolver blocks one of the process's few threads for as long as a name
  // server is slow.
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: TRIES });
  if (nameServers) resolver.setServers(nameServers);
  return async (hostname) => {
    const addresses = await resolveBoth(resolver, hostname);
    const isRefused = !allowPrivateTargets && addresses.some(({ address }) => !isPublicAddress(address));
    if (isRefused) throw refusePrivate(hostname);
    return addresses;
  };
}

async function resolveBoth(resolver: Resolver, hostname: string): Promise<LookupAddress[]> {
  const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const addresses = [
    ...(four.status === 'fulfilled' ? four.value.map((address) => ({ address, family: 4 })) : []),
    ...(six.status === 'fulfilled' ? six.value.map((address) => ({ address, family: 6 })) : []),
  ];
  if (addresses.length === 0 && four.status === 'rejected') throw four.reason;
  return addresses;
}

/**
 * Checks a URL that is registered now and requested later. Its DNS records may change until then, so `createSafeFetch`
 * checks again at each connection.
 * @returns the URL as it will be requested
 * @throws TargetRefusedError
 */
export async function assertPublicTarget(text: string, rules: TargetRules): Promise<URL> {
  const url = parseTarget(text, rules);
  if (rules.allowPrivateTargets) return url;
  const resolve = createTargetResolver(rules);
  const isNumber = url.hostname.startsWith('[') || /^[0-9.]+$/.test(url.hostname);
  if (!isNumber) await resolve(url.hostname).catch((error: unknown) => refuseUnknown(url.hostname, error));
  return url;
}

function refuseUnknown(hostname: string, error: unknown): never {
  if (error instanceof TargetRefusedError) throw error;
  throw new TargetRefusedError('unknown_host', `No address was found for ${hostname}.`, { cause: error });
}
