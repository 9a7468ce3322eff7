import {
  expandVariables,
  hintAt,
  VariableError,
  type FileProblem,
  type ParsedEntry,
  type PaymentOption,
  type Place,
} from '@tollgate/config';

import { canonicalName } from '../../paywall/route/hop-by-hop-headers.js';
import { acceptsOption } from '../../paywall/route/options-of-route.js';
import { parsePathPattern, PathPatternError, type PathPattern } from '../../paywall/route/paid-path.js';
import type { PaidRoute } from '../../paywall/route/paid-route.js';
import { findPriceProblems } from '../../paywall/route/price-of.js';
import { isReservedHeader } from '../proxy/headers.js';
import { ProxyResource } from '../proxy/proxy-resource.js';
import type { PublicPaths } from '../proxy/public-paths.js';
import { UpstreamPath, UpstreamPathError } from '../proxy/upstream-path.js';
import { explainContradictions, type ContradictionContext } from './explain-contradictions.js';
import type { RouteDescription } from './route-description.js';

export interface RouteContext extends ContradictionContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly options: readonly PaymentOption[];
  readonly maxStoredAnswerBytes: number;
  readonly sellsWeather: boolean;
}

export interface ProxyRoute {
  readonly path: string;
  readonly pattern: PathPattern;
  /** Null if anything else in the route is invalid. */
  readonly route: PaidRoute | null;
}

/** Null if the path itself is invalid. Every problem is added to `problems`. */
export function createProxyRoute(
  parsed: ParsedEntry<RouteDescription>,
  context: RouteContext,
  publicPaths: PublicPaths,
  problems: FileProblem[],
): ProxyRoute | null {
  const { description, faulty, place } = parsed;
  const problemsBefore = problems.length;
  const parse = <T>(key: 'path' | 'upstream', read: (text: string) => T): T | null => {
    if (faulty.has(key)) return null;
    try {
      return read(description[key]);
    } catch (error) {
      if (!isExplained(error)) throw error;
      const about = error instanceof UpstreamPathError ? error.about : key;
      problems.push({ place: [...place, about], message: error.message });
      return null;
    }
  };

  const pattern = parse('path', parsePathPattern);
  const accepted = readAccepted(parsed, context.options, problems);
  if (!faulty.has('price')) {
    for (const message of findPriceProblems(description.price, accepted))
      problems.push({ place: [...place, 'price'], message });
  }
  const url = parse('upstream', (text) => parseUpstreamUrl(expandVariables(text, context.env)));
  const added = faulty.has('upstreamHeaders')
    ? []
    : parseUpstreamHeaders(description.upstreamHeaders, [...place, 'upstreamHeaders'], context.env, problems);
  for (const [key, message] of explainContradictions(parsed, context)) {
    problems.push({ place: [...place, key], message });
  }
  if (pattern === null) return null;
  const stripPrefix = faulty.has('stripPrefix') ? '' : description.stripPrefix;
  const path = url && parse('upstream', () => new UpstreamPath(pattern, url.pathname, stripPrefix));
  if (url === null || path === null || faulty.size > 0 || problems.length > problemsBefore)
    return { path: description.path, pattern, route: null };
  const { answer, chargeOn, maxBodyBytes, metered, methods, mimeType, passCredentials, timeoutMs } = description;
  const { revisitSeconds, settle } = description;
  const sentHost = added.find(([name]) => canonicalName(name) === 'host')?.[1];
  publicPaths.add({ methods, pattern, upstream: url, sentHost, path });
  const resource = new ProxyResource({
    origin: url.origin,
    path,
    publicPaths,
    headers: { added, passCredentials, publicUrl: context.publicUrl },
    answer,
    isMetered: metered,
    timeoutMs,
    maxStoredAnswerBytes: context.maxStoredAnswerBytes,
  });
  return {
    path: description.path,
    pattern,
    route: {
      path: description.path,
      methods,
      price: description.price,
      ...(description.accepts && { accepts: description.accepts }),
      ...(description.payTo && { payTo: description.payTo }),
      description: description.description ?? `${methods.join(', ')} ${description.path}`,
      mimeType,
      answer,
      chargeOn,
      settle,
      isMetered: metered,
      passCredentials,
      timeLimitMs: timeoutMs,
      revisitSeconds,
      ...(maxBodyBytes === undefined ? {} : { maxBodyBytes }),
      resource,
    },
  };
}

class RouteError extends Error {}

function isExplained(error: unknown): error is Error {
  return [RouteError, VariableError, PathPatternError, UpstreamPathError].some((known) => error instanceof known);
}

/** The options that a route may be paid in; a name or an account that the payments file does not list is reported. */
function readAccepted(
  { description: { accepts, payTo }, faulty, place }: ParsedEntry<RouteDescription>,
  options: readonly PaymentOption[],
  problems: FileProblem[],
): readonly PaymentOption[] {
  if (faulty.has('accepts') || faulty.has('payTo')) return options;
  const entries = [...new Set(options.map(({ entry }) => entry))];
  for (const name of accepts ?? []) {
    if (entries.includes(name)) continue;
    const message = `names no option "${name}"; ${hintAt(name, entries, 'options')}`;
    problems.push({ place: [...place, 'accepts'], message });
  }
  const route = { ...(accepts && { accepts }), ...(payTo && { payTo }) };
  const accepted = options.filter((option) => acceptsOption(route, option));
  const asked = entries.filter((entry) => accepts?.includes(entry) ?? true);
  const lacking = asked.filter((entry) => !accepted.some((option) => option.entry === entry));
  for (const entry of lacking)
    problems.push({ place: [...place, 'payTo'], message: `is no account that the option ${entry} lists as payTo` });
  return accepted;
}

function parseUpstreamUrl(text: string): URL {
  if (!URL.canParse(text)) throw new RouteError('is not a URL; write http:// or https://, host and port');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new RouteError('must begin with http:// or https://');
  if (url.username !== '' || url.password !== '') {
    throw new RouteError('has a user or password; put an Authorization header into upstreamHeaders instead');
  }
  if (url.search !== '' || url.hash !== '')
    throw new RouteError('has a query or fragment; the query of each request is forwarded instead');
  return url;
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Parses the headers for the upstream, such as its API key. Values are secrets: no problem quotes one. */
function parseUpstreamHeaders(
  headers: Readonly<Record<string, unknown>>,
  place: Place,
  env: RouteContext['env'],
  problems: FileProblem[],
): [string, string][] {
  const seen = new Set<string>();
  return Object.entries(headers).flatMap(([name, value]): [string, string][] => {
    const report = (message: string): [] => {
      problems.push({ place: [...place, name], message });
      return [];
    };
    if (!TOKEN.test(name)) return report('is not a valid header name');
    if (isReservedHeader(name)) return report('is set by the gateway and cannot be set here');
    if (seen.has(canonicalName(name))) return report('is listed twice: case is ignored, and - and _ count as the same');
    seen.add(canonicalName(name));
    if (typeof value !== 'string') return report('must be text; write numbers in quotes');
    try {
      const expanded = expandVariables(value, env);
      return VALUE.test(expanded)
        ? [[name, expanded]]
        : report('contains a character that is not allowed in a header, such as a line break');
    } catch (error) {
      if (error instanceof VariableError) return report(error.message);
      throw error;
    }
  });
}
