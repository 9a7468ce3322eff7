import { isUtf8 } from 'node:buffer';
import { isIP } from 'node:net';

import { isPublicAddress } from '@tollgate/http';

import { publicOriginOf, type PublicOrigin } from '../../paywall/offer/public-origin.js';
import type { PathPattern } from '../../paywall/route/paid-path.js';
import { UpstreamPath } from './upstream-path.js';

/** A route, with its path in public and at its upstream. */
export interface RoutedPath {
  readonly methods: readonly string[];
  readonly pattern: PathPattern;
  readonly upstream: URL;
  /** The `Host` that the upstream is asked for, where the route sets one. */
  readonly sentHost?: string | undefined;
  readonly path: UpstreamPath;
}

/**
 * Where a reference in an upstream's response leads. `inside`: to the upstream itself, or to the gateway. `hidden`: to a
 * host that no client can reach. `outside`: to any other. `other`: to none, as `mailto:` does.
 */
export type Reference =
  | { readonly kind: 'inside'; readonly url: URL }
  | { readonly kind: 'hidden' | 'outside' | 'other' | 'unreadable' };

/** Tells which public URL a URL of an upstream has. Knows every route that is sold for an upstream. */
export class PublicPaths {
  readonly #origin: PublicOrigin | null;
  readonly #routes: (RoutedPath & { readonly publicPath: UpstreamPath })[] = [];
  /** Of upstreams that are asked for by another name, which they then redirect to: their host and that name. */
  readonly #names = new Set<string>();

  constructor(publicUrl: string | undefined) {
    this.#origin = publicUrl === undefined ? null : publicOriginOf(publicUrl);
  }

  add(route: RoutedPath): void {
    this.#routes.push({ ...route, publicPath: new UpstreamPath(route.pattern, '/') });
    const { upstream, sentHost } = route;
    const named = `${upstream.protocol}//${sentHost ?? ''}`;
    if (URL.canParse(named)) this.#names.add(`${upstream.host} ${new URL(named).host}`);
  }

  /**
   * @param reference as received: a character for each byte
   * @param base the URL of the upstream that was asked for
   */
  read(reference: string, base: URL): Reference {
    const text = decodeBytes(reference);
    if (!URL.canParse(text, base.href)) return { kind: 'unreadable' };
    const url = new URL(text, base);
    if (url.protocol !== 'http:' && url.protocol !== 'https:') return { kind: 'other' };
    if (url.host === base.host || this.#isPublic(url)) return { kind: 'inside', url };
    if (this.#names.has(`${base.host} ${url.host}`))
      return { kind: 'inside', url: new URL(base.origin + url.pathname + url.search + url.hash) };
    return { kind: isHidden(url.hostname) ? 'hidden' : 'outside' };
  }

  /**
   * The public URL of one inside; null where no route with this method leads there. Without `PUBLIC_URL` it is a path.
   * @param own the route that was asked: its paths come first
   */
  publish(url: URL, method: string, own: UpstreamPath): string | null {
    const routes = this.#routes.filter(({ methods }) => methods.includes(method));
    routes.sort((one, other) => Number(other.path === own) - Number(one.path === own));
    const paths = [
      ...(this.#isPublic(url) ? routes.map(({ publicPath }) => publicPath.read(this.#withoutBase(url))) : []),
      ...routes.map(({ path, upstream }) =>
        this.#isPublic(url) || upstream.host === url.host ? path.read(url.pathname) : null,
      ),
    ];
    const sent = paths.find((one) => one !== null);
    return sent === undefined ? null : this.urlOf(sent.path + url.search + url.hash);
  }

  /** The public URL of a path; without `PUBLIC_URL` the path itself. */
  urlOf(path: string): string {
    return (this.#origin?.url ?? '') + path;
  }

  /** The paths at the upstream that a URL inside may mean: not every upstream knows where its clients reach it. */
  upstreamPathsOf(url: URL, own: UpstreamPath): string[] {
    const route = this.#isPublic(url) ? this.#routes.find(({ path }) => path === own) : undefined;
    const sent = route === undefined ? null : route.publicPath.read(this.#withoutBase(url));
    return [url.pathname, ...(sent === null ? [] : [own.fill(sent)])].map((path) => path + url.search);
  }

  #isPublic({ host }: URL): boolean {
    return host === this.#origin?.host;
  }

  #withoutBase({ pathname }: URL): string {
    const base = this.#origin === null ? '' : new URL(this.#origin.url).pathname.replace(/\/$/, '');
    return pathname.startsWith(`${base}/`) ? pathname.slice(base.length) : pathname;
  }
}

/** Many upstreams send a path without encoding it, and browsers then read its bytes as UTF-8. */
function decodeBytes(reference: string): string {
  const bytes = Buffer.from(reference, 'latin1');
  return isUtf8(bytes) ? bytes.toString() : reference;
}

const LOCAL_NAME = /^[^.]*$|\.(localhost|local|internal|intranet|lan|home\.arpa)$/i;

/** Whether a host is private without a look-up: the gateway asks no name server for what an upstream says. */
function isHidden(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$|\.$/g, '');
  return isIP(host) === 0 ? LOCAL_NAME.test(host) : !isPublicAddress(host);
}
