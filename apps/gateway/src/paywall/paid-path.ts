/** A `PaidRoute.path`, parsed: literal segments, `:name` segments, and `*` as the last one. */
export class PaidPath {
  /** Set when the path has no parameters. */
  readonly literal: string | null;
  readonly #segments: readonly Segment[];

  private constructor(segments: readonly Segment[]) {
    this.#segments = segments;
    const literals = segments.filter((segment) => segment.kind === 'literal');
    this.literal =
      literals.length === segments.length ? `/${literals.map(({ text }) => encodeSegment(text)).join('/')}` : null;
  }

  /** @throws TypeError for a pattern that is not one of the three kinds of segment. */
  static parse(pattern: string): PaidPath {
    if (!pattern.startsWith('/')) throw new TypeError(`The path ${pattern} does not begin with a slash.`);
    const texts = pattern === '/' ? [] : pattern.slice(1).split('/');
    return new PaidPath(texts.map((text, at) => parseSegment(text, at === texts.length - 1, pattern)));
  }

  /**
   * The one spelling of the path that these decoded parameters make, percent-encoded; null where a parameter is empty
   * or not safe: an upstream might read another path than was paid.
   */
  fill(params: Readonly<Record<string, string>>): string | null {
    if (this.literal !== null) return this.literal;
    let path = '';
    for (const segment of this.#segments) {
      if (segment.kind === 'literal') {
        path += `/${encodeSegment(segment.text)}`;
        continue;
      }
      const value = params[segment.name] ?? '';
      const parts = segment.kind === 'rest' ? value.split('/') : [value];
      for (const part of parts) {
        if (!isSafeSegment(part)) return null;
        path += `/${encodeSegment(part)}`;
      }
    }
    return path;
  }
}

type Segment = { kind: 'literal'; text: string } | { kind: 'parameter' | 'rest'; name: string };

function parseSegment(text: string, isLast: boolean, pattern: string): Segment {
  if (text === '*' && isLast) return { kind: 'rest', name: '*' };
  if (/^:[a-z_][a-z0-9_]*$/i.test(text)) return { kind: 'parameter', name: text.slice(1) };
  if (/^[^:*?#%\s]+$/.test(text) && isSafeSegment(text)) return { kind: 'literal', text };
  throw new TypeError(`The path ${pattern} has a segment "${text}" that is neither literal, nor :name, nor a last *.`);
}

// Dot segments, also with the `;` parameters some servers cut off; slashes; control characters; half a surrogate pair.
const UNSAFE = /^\.{1,2}(;|$)|[/\\\p{Cc}\p{Surrogate}]/u;
const ENCODED_AGAIN = /%(25|2e|2f|5c|3b)/gi;

/**
 * Whether a decoded segment is one segment to every server. Many decode before they route, some twice: `x%2Fhistory`
 * would buy `/quotes/x/history` at the price of `/quotes/:symbol`.
 */
export function isSafeSegment(text: string): boolean {
  for (let reading = text; ;) {
    if (reading === '' || UNSAFE.test(reading)) return false;
    if (!reading.includes('%')) return true;
    const next = reading.replace(ENCODED_AGAIN, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
    if (next === reading) return true;
    reading = next;
  }
}

/** Percent-encodes what a path segment may not hold (RFC 3986, `pchar`). */
function encodeSegment(text: string): string {
  return encodeURIComponent(text).replace(/%(?:40|3A|24|26|2B|2C|3B|3D)/g, decodeURIComponent);
}
