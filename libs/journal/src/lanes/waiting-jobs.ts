/** How many jobs are remembered: one that is cancelled meanwhile is not forgotten otherwise. */
const MOST_REMEMBERED = 10_000;
/** A changed message with the same code is noted this rarely. */
const RENEWED_AFTER_MS = 30_000;

interface Seen {
  code: string;
  sinceMs: number;
  notedAtMs: number;
}

/** Since when this process has seen each job wait at its step, so that what passes in a moment is not noted. */
export class WaitingJobs {
  readonly #seen = new Map<string, Seen>();
  #turnAtMs = -Infinity;

  has(name: string): boolean {
    return this.#seen.has(name);
  }

  /** It waits for this now; null: for nothing. Returns for how many milliseconds it has. */
  see(name: string, code: string | null): number {
    const nowMs = performance.now();
    if (code === null) this.#seen.delete(name);
    else if (this.#seen.get(name)?.code !== code) {
      this.#seen.set(name, { code, sinceMs: nowMs, notedAtMs: nowMs });
      const [oldest = ''] = this.#seen.keys();
      if (this.#seen.size > MOST_REMEMBERED) this.#seen.delete(oldest);
    }
    return nowMs - (this.#seen.get(name)?.sinceMs ?? nowMs);
  }

  /** True at most once per interval: the jobs of the lane may be read. */
  takeTurn(everyMs: number): boolean {
    if (performance.now() - this.#turnAtMs < everyMs) return false;
    this.#turnAtMs = performance.now();
    return true;
  }

  /** True at most once per while: another message of the same code may be noted. */
  takeRenewal(name: string): boolean {
    const seen = this.#seen.get(name);
    const nowMs = performance.now();
    if (!seen || nowMs - seen.notedAtMs < RENEWED_AFTER_MS) return false;
    seen.notedAtMs = nowMs;
    return true;
  }
}
