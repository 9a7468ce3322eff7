const AGAIN_AFTER_MS = 60_000;
const MAX_REMEMBERED = 200;
const MAX_LENGTH = 300;

/** Limits the log of errors that come back many times a second: each is logged once a minute. */
export class RareErrors {
  readonly #loggedAtMs = new Map<string, number>();

  /** The message to log; null if this method returned it for the same subject within the last minute. */
  takeReason(subject: string, error: unknown): string | null {
    const reason = (error instanceof Error ? error.message : String(error)).slice(0, MAX_LENGTH);
    const key = `${subject}: ${reason}`;
    const now = performance.now();
    if (now - (this.#loggedAtMs.get(key) ?? -Infinity) < AGAIN_AFTER_MS) return null;
    // Messages may contain any text, so their number must be limited.
    if (this.#loggedAtMs.size >= MAX_REMEMBERED) this.#loggedAtMs.clear();
    this.#loggedAtMs.set(key, now);
    return reason;
  }
}
