import { createTargetResolver } from './resolve-target.js';
import { parseTarget, TargetRefusedError, type TargetRules } from './target-rules.js';

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
