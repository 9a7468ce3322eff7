import { toAsciiJson } from './ascii-json.js';

const MARK = /"?\\u0001(\w+)\\u0001"?/;

/** Stands in a value for what is different in each challenge. */
export function markOf(name: string): string {
  return `\u0001${name}\u0001`;
}

/**
 * The value as ASCII JSON, cut where its marks stand: text and their names in turn, without the marks' quotation marks.
 * The last text lacks the last brace, since an error may still follow.
 */
export function cutAtMarks(value: object): string[] {
  return toAsciiJson(value).slice(0, -1).split(MARK);
}
