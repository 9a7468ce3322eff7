import { UpstreamError } from '../../paywall/paid-route.js';
import { parameterNames, type PathPattern, type PatternPart } from './path-pattern.js';

export class UpstreamPathError extends Error {
  constructor(
    readonly about: 'upstream' | 'prefix',
    message: string,
  ) {
    super(message);
  }
}

/**
 * The upstream's path of a request. Made from the route's pattern and the request's parameters, never from the path the
 * client wrote, and every parameter is encoded again: whatever a client sends stays inside its place in the pattern.
 *
 * - An upstream without parameters is a base: base + matched path, without `stripPrefix`.
 * - An upstream with `:name` or `*` in its path is a template: these are filled in, nothing is appended.
 */
export class UpstreamPath {
  readonly #parts: readonly (string | Exclude<PatternPart, { kind: 'text' }>)[];
  readonly #slashAtEnd: boolean;

  /** @throws UpstreamPathError where the upstream names a parameter that the route does not have, or the prefix is not one */
  constructor(route: PathPattern, upstreamPath: string, stripPrefix = '') {
    const given = upstreamPath.split('/').filter((part) => part !== '');
    const template = given.some((part) => part === '*' || part.startsWith(':'));
    if (template) {
      if (stripPrefix !== '')
        throw new UpstreamPathError(
          'prefix',
          'is of no use: the upstream has parameters, so nothing is appended to it',
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

  /** @throws UpstreamError `refused` for a parameter that some reader of the path could take for another path */
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
    throw new UpstreamPathError('prefix', 'is not how the path starts: it may only have fixed parts of the path');
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
  if (value === '' || isAmbiguous(value)) {
    throw new UpstreamError('refused', 'A parameter of the path is empty or could be read as another path.');
  }
  return encodeURIComponent(value);
}

const ENCODED_AGAIN = /%(25|2e|2f|5c|3b)/gi;
// Dot parts, also with the `;` parameters some servers cut off; both slashes; control characters; half a surrogate pair.
const OTHER_PATH = /^\.{1,2}(;|$)|[/\\\p{Cc}\p{Cs}]/u;

/** Upstreams decode once, twice, or leniently: a value must be harmless in every reading. */
function isAmbiguous(value: string): boolean {
  for (let reading = value; ;) {
    if (OTHER_PATH.test(reading)) return true;
    const next = reading.replace(ENCODED_AGAIN, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
    if (next === reading) return false;
    reading = next;
  }
}
