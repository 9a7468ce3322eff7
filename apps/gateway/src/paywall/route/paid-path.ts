/** One segment: fixed text, `:name` for one segment of the request, or `*` for the rest of the path. */
export type PatternPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'parameter'; readonly name: string }
  | { readonly kind: 'rest' };

export type PathPattern = readonly PatternPart[];

/** The challenge names the path in its headers, which proxies limit. */
export const MAX_PATH_BYTES = 1024;

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
  if (path.length > MAX_PATH_BYTES) throw new PathPatternError('is longer than 1,024 bytes, which is refused with 414');
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

/** A path in the spelling in which an upstream is asked for it. */
export interface SentPath {
  /** Fixed parts as the route writes them; parameters, and a slash at the end, as the client sent them. */
  readonly path: string;
  /** As they were sent, percent-encoded; that of `*` is named `*`. */
  readonly params: Readonly<Record<string, string>>;
}

/** The path of a request, as its route reads it. */
export interface RequestedPath {
  /** Percent-encoded: one form for every spelling. */
  readonly canonical: string;
  readonly sent: SentPath;
}

/** A `PaidRoute.path`, parsed. */
export class PaidPath {
  readonly #pattern: PathPattern;
  /** What is read where the path has no parameters: with a slash at its end, and without. */
  readonly #literal: { readonly plain: RequestedPath; readonly slashed: RequestedPath } | null;

  private constructor(pattern: PathPattern) {
    this.#pattern = pattern;
    const texts = pattern.flatMap((part) => (part.kind === 'text' ? part.text : []));
    const canonical = `/${texts.join('/')}`;
    const read = (path: string): RequestedPath => ({ canonical, sent: { path, params: {} } });
    const slashed = pattern.length === 0 ? canonical : `${canonical}/`;
    this.#literal = texts.length === pattern.length ? { plain: read(canonical), slashed: read(slashed) } : null;
  }

  /** @throws PathPatternError saying what to write instead */
  static parse(path: string): PaidPath {
    return new PaidPath(parsePathPattern(path));
  }

  /** The canonical path; null if it has parameters. */
  get literal(): string | null {
    return this.#literal?.plain.canonical ?? null;
  }

  /**
   * The path of a request target that the router matched to this one. Null where a parameter is empty or unsafe: an
   * upstream might read it as a different path than the one paid for.
   */
  read(target: string): RequestedPath | null {
    const path = pathOf(target);
    if (this.#literal !== null) return path.endsWith('/') ? this.#literal.slashed : this.#literal.plain;
    const params: Record<string, string> = {};
    let [canonical, sent, at] = ['', '', 0];
    for (const part of this.#pattern) {
      while (path[at] === '/') at += 1;
      const slashAt = part.kind === 'rest' ? -1 : path.indexOf('/', at);
      const end = slashAt === -1 ? path.length : slashAt;
      const piece = path.slice(at, end).replace(NO_PATH_CHARACTER, encodeURIComponent);
      at = end;
      if (part.kind === 'text') {
        canonical += `/${part.text}`;
        sent += `/${part.text}`;
        continue;
      }
      const segments = part.kind === 'rest' ? piece.split('/').filter((segment) => segment !== '') : [piece];
      if (segments.length === 0) return null;
      for (const segment of segments) {
        const decoded = decodeSegment(segment);
        if (decoded === null) return null;
        canonical += `/${encodeSegment(decoded)}`;
      }
      sent += `/${piece}`;
      params[part.kind === 'rest' ? '*' : part.name] = piece;
    }
    return { canonical, sent: { path: at < path.length ? `${sent}/` : sent, params } };
  }
}

/** The path of a request target, which a client may send in absolute form. */
function pathOf(target: string): string {
  const endAt = target.search(/[?#]/);
  const path = endAt === -1 ? target : target.slice(0, endAt);
  return path.startsWith('/') ? path : path.replace(/^[^/]*\/\/[^/]*/, '');
}

/** What neither a segment nor the slashes between segments may hold (RFC 3986, `pchar`), but for a backslash. */
const NO_PATH_CHARACTER = /[^\w.~!$&'()*+,;=:@%/\\-]/g;
// Dot segments, also with the `;` parameters that some servers cut off; backslashes; control characters.
const UNSAFE = /^\.{1,2}(;|$)|[/\\\p{Cc}]/u;
const ENCODED = /%(?:2e|2f|5c|3b)/i;
/** A segment that is encoded more often is refused: a client could ask for as many passes as it likes. */
const MOST_ENCODINGS = 5;

/**
 * A segment decoded; null unless every server reads it as this one segment. Many decode before they route, some twice:
 * `x%2Fhistory` would buy `/quotes/x/history` at the price of `/quotes/:symbol`.
 */
function decodeSegment(sent: string): string | null {
  if (sent === '' || hidesDelimiter(sent)) return null;
  const decoded = decodeUtf8(sent);
  return decoded === null || UNSAFE.test(decoded) ? null : decoded;
}

/** Also where the digits of an inner encoding are encoded on their own, as in `%25%32%66`. */
function hidesDelimiter(sent: string): boolean {
  for (let text = sent, left = MOST_ENCODINGS; text.includes('%'); left -= 1) {
    if (left === 0 || ENCODED.test(text)) return true;
    const decoded = text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
    if (decoded === text) break;
    text = decoded;
  }
  return false;
}

export function isSafeSegment(sent: string): boolean {
  return decodeSegment(sent) !== null;
}

/** Null for a stray `%`, and for bytes that are not UTF-8. */
function decodeUtf8(sent: string): string | null {
  if (!sent.includes('%')) return sent;
  try {
    return decodeURIComponent(sent);
  } catch {
    return null;
  }
}

/** Percent-encodes what a path segment may not hold (RFC 3986, `pchar`). */
function encodeSegment(text: string): string {
  return encodeURIComponent(text).replace(/%(?:40|3A|24|26|2B|2C|3B|3D)/g, decodeURIComponent);
}
