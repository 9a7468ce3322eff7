const AGAIN_AFTER_MS = 60_000;
const MAX_REMEMBERED = 200;
const MAX_LENGTH = 300;

/** Says of errors that come back many times a second which to log: each once a minute. */
export class RareErrors {
  readonly #toldAtMs = new Map<string, number>();

  /** The error's message; null where it was told of the same subject within the last minute. */
  tell(subject: string, error: unknown): string | null {
    const reason = (error instanceof Error ? error.message : String(error)).slice(0, MAX_LENGTH);
    const key = `${subject}: ${reason}`;
    const now = performance.now();
    if (now - (this.#toldAtMs.get(key) ?? -Infinity) < AGAIN_AFTER_MS) return null;
    // Messages may contain any text, so their number must be limited.
    if (this.#toldAtMs.size >= MAX_REMEMBERED) this.#toldAtMs.clear();
    this.#toldAtMs.set(key, now);
    return reason;
  }
}
