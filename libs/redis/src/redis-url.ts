import type { RedisOptions } from 'ioredis';

import { StoreError } from './store-error.js';

/** The driver's options without the shape of its replies, which decides the client's type. */
export type ClientOptions = Omit<RedisOptions, 'replyMapping'>;

/** Several servers: those of a cluster, or Sentinels and the name of the primary that they watch. */
export interface GroupUrl {
  kind: 'cluster' | 'sentinel';
  /** For the log: hosts and name, never credentials. */
  address: string;
  nodes: { host: string; port: number }[];
  options: ClientOptions;
}

const SINGLE = /^rediss?:\/\/\S+$/;
const GROUP = /^(rediss?)\+(cluster|sentinel):\/\/(?:([^@/?#]*)@)?([^@/?#]*)(?:\/([^/?#]*))?(?:\?([^?#]*))?$/;
const HOST = /^(?:\[([\da-f:.]+)\]|([\w.-]+))(?::(\d{1,5}))?$/i;
const PORTS = { cluster: 6379, sentinel: 26_379 } as const;
const PARAMETERS = ['db', 'sentinelUsername', 'sentinelPassword'];

const WRONG_FORM =
  'must be redis://host:port, redis+cluster://host:port,host:port, or redis+sentinel://host:port,host:port/name for ' +
  'the primary that Sentinels name; with rediss instead of redis for TLS';
export const UNREADABLE_URL =
  'cannot be read: check host and port, and percent-encode the characters # / ? % and @ of user and password';

/** Everything that is wrong with a Redis URL; without any part of the URL, which may hold a password. */
export function findRedisUrlProblems(url: string): string[] {
  return SINGLE.test(url) ? findSingleUrlProblems(url) : readGroupUrl(url).problems;
}

function findSingleUrlProblems(url: string): string[] {
  const [, authority = '', rest = ''] = /^\w+:\/\/([^/?#]*)(.*)$/.exec(url) ?? [];
  // An @ there ends a password like 12/34, of which the driver would take 12 for a port; the value of a parameter may have one.
  if (/^[^=]*@/.test(rest)) return [UNREADABLE_URL];
  if (/,[^@]*$/.test(authority)) return ['names several hosts, which only redis+cluster:// and redis+sentinel:// may'];
  try {
    const { username, password } = new URL(url);
    decodeURIComponent(username + password);
    return [];
  } catch {
    return [UNREADABLE_URL];
  }
}

/**
 * Null for the URL of one server, which the driver reads itself.
 * @throws StoreError with every problem of a URL of several servers
 */
export function parseGroupUrl(url: string): GroupUrl | null {
  if (!/^rediss?\+/.test(url)) return null;
  const problems = findRedisUrlProblems(url);
  if (problems.length === 0) return readGroupUrl(url).parsed;
  throw new StoreError('redis_url_invalid', `The URL of this Redis ${problems.join(', and ')}.`, 'Correct the URL.');
}

function readGroupUrl(url: string): { parsed: GroupUrl; problems: string[] } {
  const problems: string[] = [];
  const match = GROUP.exec(url);
  if (match === null) {
    return { parsed: { kind: 'sentinel', address: '', nodes: [], options: {} }, problems: [WRONG_FORM] };
  }
  const [, scheme, word, credentials, hosts = '', name = '', query = ''] = match;
  const kind = word === 'cluster' ? 'cluster' : 'sentinel';

  const nodes = hosts.split(',').map((text, index) => {
    const [, ipv6, hostName, port] = HOST.exec(text) ?? [];
    const host = ipv6 ?? hostName;
    if (host === undefined) problems.push(`has no valid address at host ${index + 1}`);
    if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) {
      problems.push(`has no valid port at host ${index + 1}`);
    }
    return { host: host ?? '', port: Number(port ?? PORTS[kind]) };
  });
  if (kind === 'sentinel' && name === '') {
    problems.push('does not name the primary: add /name, as in `sentinel monitor <name>`');
  }
  if (kind === 'cluster' && name + query !== '')
    problems.push('has more than hosts, which is all that a cluster needs');

  const decode = (text: string | undefined, what: string): string | undefined => {
    try {
      return text === undefined || text === '' ? undefined : decodeURIComponent(text);
    } catch {
      problems.push(`has a % in the ${what} that is not the beginning of a percent-encoded character`);
      return undefined;
    }
  };
  const colon = credentials?.indexOf(':') ?? -1;
  if (credentials !== undefined && colon === -1) problems.push('has a user without a password: write user:password@');
  const parameters = new URLSearchParams(query);
  const unknown = [...parameters.keys()].filter((key) => !PARAMETERS.includes(key));
  if (kind === 'sentinel' && unknown.length > 0) problems.push(`has a parameter other than ${PARAMETERS.join(', ')}`);
  const db = parameters.get('db') ?? '0';
  if (!/^\d{1,4}$/.test(db)) problems.push('has a parameter db that is not a number');

  const given: ClientOptions = {
    username: decode(credentials?.slice(0, colon), 'user'),
    password: decode(credentials?.slice(colon + 1), 'password'),
    sentinelUsername: parameters.get('sentinelUsername') ?? undefined,
    sentinelPassword: parameters.get('sentinelPassword') ?? undefined,
  };
  const options: ClientOptions = {
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    ...(kind === 'sentinel' && { sentinels: nodes, name: decode(name, 'name') ?? '', db: Number(db) }),
    ...(scheme === 'rediss' && { tls: {} }),
    ...(scheme === 'rediss' && kind === 'sentinel' && { sentinelTLS: {}, enableTLSForSentinelMode: true }),
  };
  const watchers = hosts.replaceAll(',', ', ');
  const address =
    kind === 'cluster' ? `the cluster ${watchers}` : `the primary ${options.name} of the Sentinels ${watchers}`;
  return { parsed: { kind, address, nodes, options }, problems };
}
