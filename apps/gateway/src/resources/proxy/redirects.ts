import { canonicalName } from '../../paywall/route/hop-by-hop-headers.js';
import { UpstreamError, type ResourceRequest } from '../../paywall/route/paid-route.js';
import type { PublicPaths } from './public-paths.js';
import type { UpstreamPath } from './upstream-path.js';

/** A response of an upstream, and the URL that it answers. */
export interface Responded {
  readonly status: number;
  /** Alternating names and values, as received. */
  readonly raw: readonly string[];
  readonly url: URL;
}

/** The redirects of one route's upstream: those that lead inside are no answer. */
export class Redirects {
  constructor(
    private readonly paths: PublicPaths,
    private readonly own: UpstreamPath,
  ) {}

  /** The path and query to ask for instead, where it is only another spelling of the one that was asked for. */
  findSpelling(responded: Responded): string | null {
    const location = isMove(responded.status, 'GET') ? locationOf(responded) : null;
    const target = location === null ? null : this.paths.read(location, responded.url);
    if (target?.kind !== 'inside') return null;
    const asked = responded.url.pathname + responded.url.search;
    const spellings = this.paths.upstreamPathsOf(target.url, this.own);
    return spellings.find((path) => path !== asked && isAlike(path, asked)) ?? null;
  }

  /**
   * Where a redirect that is no answer sends the client; null for an answer, which is one that leads to another public
   * host, or one to an unsafe request that has had its effect.
   * @throws UpstreamError for a redirect that no client can follow
   */
  findMove({ method, sent, query }: ResourceRequest, responded: Responded): string | null {
    if (!isMove(responded.status, method)) return null;
    const location = locationOf(responded);
    if (location === null) throw fail('without one Location header that says where');
    const target = this.paths.read(location, responded.url);
    if (target.kind === 'outside') return null;
    const where = JSON.stringify(location.slice(0, 200));
    if (target.kind !== 'inside') throw fail(`to ${where}, which no client can reach`);
    if (method === 'GET' && this.findSpelling(responded) !== null) throw fail(`to ${where}, in a circle`);
    const url = this.paths.publish(target.url, method, this.own);
    if (url === null) throw fail(`to ${where}, and no route sells that path for ${method}`);
    const requested = this.paths.urlOf(sent.path + (query === '' ? '' : `?${query}`));
    if (new URL(url, responded.url).href === new URL(requested, responded.url).href) {
      throw fail(`to ${where}, in a circle`);
    }
    return url;
  }

  /** The public URL that replaces an upstream's URL in an answer; null where no public URL leads there. */
  publish(reference: string, base: URL): string | null {
    const target = this.paths.read(reference, base);
    if (target.kind === 'inside') return this.paths.publish(target.url, 'GET', this.own);
    return target.kind === 'outside' || target.kind === 'other' ? reference : null;
  }
}

/** A status that says that the answer is elsewhere. An unsafe request may have had its effect before the others. */
function isMove(status: number, method: string): boolean {
  return status === 307 || status === 308 || (method === 'GET' && status >= 301 && status <= 303);
}

/** Null unless there is exactly one: two readers could follow two of them. */
function locationOf({ raw }: Responded): string | null {
  const found = raw.filter((_, at) => at % 2 === 1 && canonicalName(raw[at - 1] ?? '') === 'location');
  return found.length === 1 ? (found[0] ?? null) : null;
}

/** Whether two paths with their queries differ in the slash at the end, letter case and encoding alone. */
function isAlike(one: string, other: string): boolean {
  const [left, right] = [one, other].map(readSpelling);
  return left !== null && left === right;
}

/** Null for a path that is not UTF-8. */
function readSpelling(pathAndQuery: string): string | null {
  const [path = '', ...query] = pathAndQuery.split('?');
  const segments = path.split('/');
  while (segments.length > 2 && segments.at(-1) === '') segments.pop();
  try {
    return JSON.stringify([segments.map((segment) => decodeURIComponent(segment).toLowerCase()), query]);
  } catch {
    return null;
  }
}

function fail(how: string): UpstreamError {
  return new UpstreamError('failed', `The upstream redirects ${how}. Point "upstream" at the URL that answers.`);
}
