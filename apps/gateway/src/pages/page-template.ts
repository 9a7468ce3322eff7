import { cutAtMarks } from '../paywall/offer/challenge-template.js';

/** A page that is rendered once, with marks (`markOf`) for what differs, and filled in for each request. */
export class PageTemplate {
  /** Constant text and names of marks in turn. */
  readonly #parts: readonly string[];

  constructor(marked: string) {
    this.#parts = cutAtMarks(marked);
  }

  /** @param texts ASCII, by the names of the marks, each escaped for the place where it stands */
  fill(texts: Readonly<Record<string, string>>): string {
    let filled = '';
    this.#parts.forEach((part, at) => (filled += at % 2 === 0 ? part : (texts[part] ?? '')));
    return filled;
  }
}
