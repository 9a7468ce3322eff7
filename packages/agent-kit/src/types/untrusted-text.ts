const MAX_LENGTH = 120;

/**
 * Makes untrusted text (a token's name, a revert reason, an answer's body) safe to show to a person or a model: one
 * line of printable characters, cut, and in quotes, so that it reads as data and never as an instruction.
 */
export function quoteUntrusted(text: string, maxLength = MAX_LENGTH): string {
  return JSON.stringify(cleanUntrusted(text, maxLength));
}

/** Untrusted text on one line, without quotes. */
export function cleanUntrusted(text: string, maxLength = MAX_LENGTH): string {
  // Cut before the replacements, which would otherwise process a megabyte of it.
  const line = text
    .slice(0, maxLength * 4)
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim();
  return line.length <= maxLength ? line : `${line.slice(0, maxLength)}…`;
}

/** A token's own symbol: at most 11 letters, digits and `.-+$₮`; all other characters are dropped. */
export function cleanSymbol(symbol: string): string {
  const clean = symbol
    .slice(0, 1_000)
    .replace(/[^\p{L}\p{N}.+$₮-]/gu, '')
    .slice(0, 11);
  return clean === '' ? 'UNNAMED' : clean;
}
