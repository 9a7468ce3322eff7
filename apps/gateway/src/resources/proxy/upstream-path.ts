import {
  isSafeSegment,
  parameterNames,
  type PathPattern,
  type PatternPart,
  type SentPath,
} from '../../paywall/route/paid-path.js';

export class UpstreamPathError extends Error {
  constructor(
    readonly about: 'upstream' | 'stripPrefix',
    message: string,
  ) {
    super(message);
  }
}

/**
 * The upstream path of a request. Fixed parts are written as the operator writes them, and parameters as the client sent
 * them: the paywall has refused every one that an upstream could read as another path.
 *
 * - An upstream without parameters is a base: base + path of the request, without `stripPrefix`.
 * - An upstream with `:name` or `*` in its path is a template: the parameters are filled in and nothing is appended.
 */
export class UpstreamPath {
  readonly #route: PathPattern;
  readonly #parts: PathPattern;
  readonly #fill: (sent: SentPath) => string;

  /**
   * @throws UpstreamPathError for an upstream parameter that the route lacks, or a prefix that the route does not start
   * with
   */
  constructor(route: PathPattern, upstreamPath: string, stripPrefix = '') {
    this.#route = route;
    const given = upstreamPath.split('/').filter((part) => part !== '');
    const slashAtEnd = upstreamPath.endsWith('/') ? '/' : '';
    if (given.some((part) => part === '*' || part.startsWith(':'))) {
      if (stripPrefix !== '')
        throw new UpstreamPathError(
          'stripPrefix',
          'has no effect: the upstream has parameters, so nothing is appended to it',
        );
      const known = new Set(parameterNames(route));
      const parts = given.map((part, index) => parseTemplatePart(part, index === given.length - 1, known));
      this.#parts = parts;
      this.#fill = ({ params }) => fillParts(parts, params) + slashAtEnd;
    } else {
      const stripped = partsOfPrefix(route, stripPrefix);
      const base = given.map((part) => `/${part}`).join('');
      this.#parts = [...given.map((text) => ({ kind: 'text', text }) as const), ...route.slice(stripped.length)];
      const prefixLength = route.length === 0 ? 1 : stripped.reduce((length, part) => length + 1 + part.length, 0);
      this.#fill = ({ path }) => base + (path.slice(prefixLength) || slashAtEnd) || '/';
    }
  }

  fill(sent: SentPath): string {
    return this.#fill(sent);
  }

  /** The path that a client sends for a path of the upstream; null where the route does not lead there. */
  read(upstreamPath: string): SentPath | null {
    const segments = upstreamPath.slice(1).split('/');
    const params: Record<string, string> = {};
    for (const part of this.#parts) {
      if (part.kind === 'rest') {
        const rest = segments.splice(0);
        if (!isRest(rest)) return null;
        params['*'] = rest.join('/');
        continue;
      }
      const segment = segments.shift() ?? '';
      if (part.kind === 'parameter' ? !isSafeSegment(segment) : segment !== part.text) return null;
      if (part.kind === 'parameter') params[part.name] = segment;
    }
    if (segments.join('/') !== '' || segments.length > 1) return null;
    if (parameterNames(this.#route).some((name) => params[name] === undefined)) return null;
    const slashAtEnd = segments.length === 1 && this.#parts.length > 0 && this.#route.length > 0 ? '/' : '';
    return { path: (fillParts(this.#route, params) || '/') + slashAtEnd, params };
  }
}

function fillParts(parts: PathPattern, params: SentPath['params']): string {
  return parts
    .map((part) => `/${part.kind === 'text' ? part.text : (params[part.kind === 'rest' ? '*' : part.name] ?? '')}`)
    .join('');
}

/** Whether `*` reads these segments as they are; it skips slashes at its beginning. */
function isRest(segments: readonly string[]): boolean {
  return (segments[0] ?? '') !== '' && segments.every((segment) => segment === '' || isSafeSegment(segment));
}

function partsOfPrefix(route: PathPattern, prefix: string): string[] {
  const parts = prefix.split('/').filter((part) => part !== '');
  const fits = parts.every((part, index) => {
    const own = route[index];
    return own?.kind === 'text' && own.text === part;
  });
  if (!fits)
    throw new UpstreamPathError('stripPrefix', 'must be the start of the path, and can only contain fixed parts of it');
  return parts;
}

function parseTemplatePart(part: string, last: boolean, known: ReadonlySet<string>): PatternPart {
  if (part === '*') {
    if (!last) throw new UpstreamPathError('upstream', 'may have * only at its end');
    if (!known.has('*')) throw new UpstreamPathError('upstream', 'has *, but the path does not');
    return { kind: 'rest' };
  }
  if (!part.startsWith(':')) return { kind: 'text', text: part };
  const name = part.slice(1);
  if (!known.has(name)) throw new UpstreamPathError('upstream', `has :${name}, but the path does not`);
  return { kind: 'parameter', name };
}
