import { PaymentsFileEnvironment } from './payments/payments-file.environment.js';
import type { Payments } from './payments/payments.js';
import { ownGroups, ownSettings, type EnvironmentClass } from './setting.js';

const SHORTEST = 6;
/** The hosts after the first one, in the URL of a cluster or of Sentinels. */
const FURTHER_HOSTS = /(?<=^[\w+]+:\/\/(?:[^@/?#]*@)?[^,@/?#]*),[^@/?#]*/;

/** The texts that must not appear in a log: the values of secret settings, or their secret parts if they are URLs. */
export function listSecrets(environment: object): string[] {
  const environmentClass = environment.constructor as EnvironmentClass;
  const values = environment as Record<string, unknown>;
  const own = ownSettings(environmentClass)
    .filter(({ secret, defaultText, property }) => secret && String(values[property]) !== defaultText)
    .flatMap(({ property }) => values[property] ?? [])
    .flatMap((value) => (typeof value === 'string' ? secretsIn(value) : []));
  const ofFile = environment instanceof PaymentsFileEnvironment ? listUrls(environment.payments) : [];
  const nested = [...ownGroups(environmentClass).keys()].flatMap((property) => listSecrets(values[property] as object));
  return [...new Set([...nested, ...own, ...ofFile.flatMap(secretsIn)])].filter((secret) => secret.length >= SHORTEST);
}

/** The RPC servers of every chain; a process without a connection knows only how the file writes them. */
function listUrls(payments: Payments | null): string[] {
  const urls = payments?.chains.flatMap(({ rpc, reconcileRpc }) => [...rpc, ...reconcileRpc]) ?? [];
  return urls.filter((url) => url.includes('://'));
}

/**
 * The secret parts of a URL: the password, and the parts of user name, path and query that look like keys. Host names
 * may be logged.
 */
function secretsIn(value: string): string[] {
  // A key is redacted with and without its `0x`.
  if (!value.includes('://')) return [value.replace(/^0x/, '')];
  try {
    const { username, password, pathname, search, searchParams } = new URL(value.replace(FURTHER_HOSTS, ''));
    const keys = [username, ...pathname.split('/'), ...searchParams.values()].filter((part) => part.length >= 16);
    const passwords = [password, ...[...search.matchAll(/[?&]\w*password=([^&]*)/gi)].map(([, text = '']) => text)];
    return [...passwords, ...passwords.map(decodeURIComponent), ...keys];
  } catch {
    return [value];
  }
}
