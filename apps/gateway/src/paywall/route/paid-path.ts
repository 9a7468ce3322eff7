/** One segment: fixed text, `:name` for one segment of the request, or `*` for the rest of the path. */
export type PatternPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'parameter'; readonly name: string }
  | { readonly kind: 'rest' };

export type PathPattern = readonly PatternPart[];

export class PathPatternError extends TypeError {}

const TEXT = /^[\w.~!$&'+,=@-]+$/;
const PARAMETER = /^:[a-z]\w*$/i;

/**
 * Parses a pattern such as `/v1/quotes/:symbol` or `/files/*`. The router supports more (expressions, optional parts),
 * but a price list should not.
 *
 * @throws PathPatternError saying what to write instead
 */
export function parsePathPattern(path: string): PathPattern {
  if (!path.startsWith('/')) throw new PathPatternError('must start with /');
  if (path === '/') return [];
  if (path.endsWith('/')) throw new PathPatternError('must not end with /: the trailing slash makes no difference');
  const parts = path.slice(1).split('/');
  const names = new Set<string>();
  return parts.map((part, index) => {
    if (part === '*') {
      if (index < parts.length - 1) throw new PathPatternError('may have * only at its end');
      return { kind: 'rest' };
    }
    if (part.startsWith(':')) {
      if (!PARAMETER.test(part)) {
        throw new PathPatternError(
          `has "${part}": a parameter is : followed by letters or digits, and takes a whole segment`,
        );
      }
      const name = part.slice(1);
      if (names.has(name)) throw new PathPatternError(`names :${name} twice`);
      names.add(name);
      return { kind: 'parameter', name };
    }
    if (part === '') throw new PathPatternError('has two slashes in a row');
    if (part === '.' || part === '..') throw new PathPatternError(`has "${part}", which refers to another path`);
    if (!TEXT.test(part)) {
      throw new PathPatternError(`has "${part}": fixed parts are letters, digits and any of . _ ~ ! $ & ' + , = @ -`);
    }
    return { kind: 'text', text: part };
  });
}

/** The names of the parameters; that of `*` is `*`. */
export function parameterNames(pattern: PathPattern): string[] {
  return pattern.flatMap((part) => (part.kind === 'text' ? [] : part.kind === 'rest' ? '*' : part.name));
}

/** Whether some path matches both patterns, ignoring case. */
export function overlap(a: PathPattern, b: PathPattern): boolean {
  for (let index = 0; ; index += 1) {
    const [left, right] = [a[index], b[index]];
    // `/files/*` also matches `/files/`, but not `/files`.
    if (left === undefined || right === undefined) return left === right;
    if (left.kind === 'rest' || right.kind === 'rest') return true;
    if (left.kind === 'text' && right.kind === 'text' && left.text.toLowerCase() !== right.text.toLowerCase()) {
      return false;
    }
  }
}

/** A `PaidRoute.path`, parsed. */
export class PaidPath {
  /** Set when the path has no parameters. */
  readonly literal: string | null;
  readonly #pattern: PathPattern;

  private constructor(pattern: PathPattern) {
    this.#pattern = pattern;
    const texts = pattern.flatMap((part) => (part.kind === 'text' ? encodeSegment(part.text) : []));
    this.literal = texts.length === pattern.length ? `/${texts.join('/')}` : null;
  }

  /** @throws PathPatternError saying what to write instead */
  static parse(path: string): PaidPath {
    return new PaidPath(parsePathPattern(path));
  }

  /**
   * The canonical, percent-encoded path with these decoded parameters. Null where a parameter is empty or unsafe: an
   * upstream might read it as a different path than the one paid for.
   */
  fill(params: Readonly<Record<string, string>>): string | null {
    if (this.literal !== null) return this.literal;
    let path = '';
    for (const part of this.#pattern) {
      if (part.kind === 'text') {
        path += `/${encodeSegment(part.text)}`;
        continue;
      }
      const values = part.kind === 'rest' ? (params['*'] ?? '').split('/') : [params[part.name] ?? ''];
      for (const value of values) {
        if (!isSafeSegment(value)) return null;
        path += `/${encodeSegment(value)}`;
      }
    }
    return path;
  }
}

// Dot segments, also with the `;` parameters that some servers cut off; slashes; control characters; unpaired
// surrogates.
const UNSAFE = /^\.{1,2}(;|$)|[/\\\p{Cc}\p{Surrogate}]/u;
// However often it was encoded: undoing one encoding at a time would take as many passes as a client likes.
const ENCODED_AGAIN = /%(?:25)*(25|2e|2f|5c|3b)/gi;

/**
 * Whether every server reads a decoded segment as one segment. Many decode before they route, some twice: `x%2Fhistory`
 * would buy `/quotes/x/history` at the price of `/quotes/:symbol`.
 */
export function isSafeSegment(text: string): boolean {
  const decoded = text.replace(ENCODED_AGAIN, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return decoded !== '' && !UNSAFE.test(decoded);
}

/** Percent-encodes what a path segment may not hold (RFC 3986, `pchar`). */
function encodeSegment(text: string): string {
  return encodeURIComponent(text).replace(/%(?:40|3A|24|26|2B|2C|3B|3D)/g, decodeURIComponent);
}
