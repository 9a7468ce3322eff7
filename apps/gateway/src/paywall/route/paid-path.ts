import { parsePathPattern, type PathPattern } from './path-pattern.js';

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
const ENCODED_AGAIN = /%(25|2e|2f|5c|3b)/gi;

/**
 * Whether every server reads a decoded segment as one segment. Many decode before they route, some twice: `x%2Fhistory`
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
