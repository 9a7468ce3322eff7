/** JSON in ASCII only, so that its length in characters is its length in bytes. */
export function toAsciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const MARK = /"?\\u0001(\w+)\\u0001"?/;

/** A placeholder for a part that differs in each challenge. */
export function markOf(name: string): string {
  return `\u0001${name}\u0001`;
}

/**
 * The value as ASCII JSON, cut at its marks: alternating text and names of marks, without the quotation marks around a
 * mark. The last text lacks the closing brace, since an error may still follow.
 */
export function cutAtMarks(value: object): string[] {
  return toAsciiJson(value).slice(0, -1).split(MARK);
}
