import { isSafeSegment, parameterNames, type PathPattern, type PatternPart } from '../../paywall/route/paid-path.js';
import { UpstreamError } from '../../paywall/route/paid-route.js';

export class UpstreamPathError extends Error {
  constructor(
    readonly about: 'upstream' | 'stripPrefix',
    message: string,
  ) {
    super(message);
  }
}

/**
 * The upstream path of a request. It is built from the route's pattern and the request's parameters, never from the
 * path the client sent, and every parameter is encoded again: no input of a client can leave its place in the pattern.
 *
 * - An upstream without parameters is a base: base + matched path, without `stripPrefix`.
 * - An upstream with `:name` or `*` in its path is a template: the parameters are filled in and nothing is appended.
 */
export class UpstreamPath {
  readonly #parts: readonly (string | Exclude<PatternPart, { kind: 'text' }>)[];
  readonly #slashAtEnd: boolean;

  /**
   * @throws UpstreamPathError for an upstream parameter that the route lacks, or a prefix that the route does not start
   * with
   */
  constructor(route: PathPattern, upstreamPath: string, stripPrefix = '') {
    const given = upstreamPath.split('/').filter((part) => part !== '');
    const template = given.some((part) => part === '*' || part.startsWith(':'));
    if (template) {
      if (stripPrefix !== '')
        throw new UpstreamPathError(
          'stripPrefix',
          'has no effect: the upstream has parameters, so nothing is appended to it',
        );
      const known = new Set(parameterNames(route));
      this.#parts = given.map((part, index) => parseTemplatePart(part, index === given.length - 1, known));
      this.#slashAtEnd = upstreamPath.endsWith('/');
    } else {
      const kept = withoutPrefix(route, stripPrefix).map((part) => (part.kind === 'text' ? part.text : part));
      this.#parts = [...given, ...kept];
      this.#slashAtEnd = kept.length === 0 && upstreamPath.endsWith('/');
    }
  }

  /** @throws UpstreamError `refused` for an unsafe parameter, which the paywall should already have rejected */
  fill(parameters: Readonly<Record<string, string>>): string {
    const filled = this.#parts.map((part) => {
      if (typeof part === 'string') return part;
      return part.kind === 'rest' ? encodeRest(parameters['*'] ?? '') : encodePart(parameters[part.name] ?? '');
    });
    return `/${filled.join('/')}${this.#slashAtEnd && filled.length > 0 ? '/' : ''}`;
  }
}

function withoutPrefix(route: PathPattern, prefix: string): PathPattern {
  const parts = prefix.split('/').filter((part) => part !== '');
  const fits = parts.every((part, index) => {
    const own = route[index];
    return own?.kind === 'text' && own.text === part;
  });
  if (!fits)
    throw new UpstreamPathError('stripPrefix', 'must be the start of the path, and can only contain fixed parts of it');
  return route.slice(parts.length);
}

function parseTemplatePart(part: string, last: boolean, known: ReadonlySet<string>) {
  if (part === '*') {
    if (!last) throw new UpstreamPathError('upstream', 'may have * only at its end');
    if (!known.has('*')) throw new UpstreamPathError('upstream', 'has *, but the path does not');
    return { kind: 'rest' } as const;
  }
  if (!part.startsWith(':')) return part;
  const name = part.slice(1);
  if (!known.has(name)) throw new UpstreamPathError('upstream', `has :${name}, but the path does not`);
  return { kind: 'parameter', name } as const;
}

function encodeRest(rest: string): string {
  const parts = rest.split('/');
  return parts.map((part, index) => (part === '' && index === parts.length - 1 ? '' : encodePart(part))).join('/');
}

function encodePart(value: string): string {
  if (!isSafeSegment(value)) {
    throw new UpstreamError('refused', 'A path parameter is empty or could be read as another path.');
  }
  return encodeURIComponent(value);
}
