/** What is mined sooner than that is looked for at once. */
const AT_ONCE_MS = 25;
const QUICK_MS = 1_000;
/** How much the latest wait for a block counts against those before. */
const WEIGHT = 0.2;
/** Of the usual wait: when the first look is due, and how much later the second. */
const FIRST_SHARE = 0.5;
const STEP_SHARE = 0.125;
const GROWTH = 1.5;

/**
 * When a lane's chain is looked at next: after something was sent about when its block is due, as learned from those
 * before, then ever more seldom, up to the rhythm of a lane that has nothing to wait for.
 */
export class LookPace {
  readonly #firstMs: number;
  readonly #longestMs: number;
  #stepMs: number;
  #lookedAtMs = -Infinity;
  #nextLookMs = -Infinity;
  /** By what happened since the last look began. */
  #askedForMs = Infinity;
  /** From a transaction's being taken to its being seen in a block. */
  #usualMs = 0;
  #wake: (() => void) | null = null;

  /** @param firstMs the least time between two looks; as long as `longestMs`: always that */
  constructor({ firstMs, longestMs }: { firstMs: number; longestMs: number }) {
    this.#firstMs = Math.min(firstMs, longestMs);
    this.#longestMs = longestMs;
    this.#stepMs = longestMs;
  }

  /** Bytes are on their way: whether they arrive may never be told. */
  noteSent(): void {
    this.#lookIn(Math.max(this.#firstMs, this.#dueMs));
  }

  noteAccepted(): void {
    this.#lookIn(this.#dueMs);
  }

  /** @param waitedMs since the transaction was taken */
  noteMined(waitedMs: number): void {
    this.#usualMs += WEIGHT * (Math.min(waitedMs, 2 * this.#longestMs) - this.#usualMs);
  }

  /** Blocks come so soon that somebody may wait for one. */
  get isQuick(): boolean {
    return this.#usualMs < QUICK_MS;
  }

  /** Waits until the next look is due. */
  async rest(signal: AbortSignal): Promise<void> {
    this.#lookedAtMs = performance.now();
    const isAskedFor = this.#askedForMs < this.#lookedAtMs + this.#longestMs;
    this.#nextLookMs = isAskedFor
      ? Math.max(this.#askedForMs, this.#lookedAtMs + this.#firstMs)
      : this.#lookedAtMs + this.#stepMs;
    this.#askedForMs = Infinity;
    this.#stepMs = Math.min(this.#stepMs * GROWTH, this.#longestMs);
    while (!signal.aborted && performance.now() < this.#nextLookMs) {
      await new Promise<void>((resolve) => {
        const end = (): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', end);
          this.#wake = null;
          resolve();
        };
        const timer = setTimeout(end, this.#nextLookMs - performance.now());
        signal.addEventListener('abort', end);
        this.#wake = end;
      });
    }
  }

  get #dueMs(): number {
    return this.#usualMs < AT_ONCE_MS ? 0 : this.#usualMs * FIRST_SHARE;
  }

  #lookIn(delayMs: number): void {
    if (this.#firstMs >= this.#longestMs) return;
    const atMs = Math.max(performance.now() + delayMs, this.#lookedAtMs + this.#firstMs);
    this.#stepMs = Math.max(this.#firstMs, this.#usualMs * STEP_SHARE);
    if (this.#wake === null) this.#askedForMs = Math.min(this.#askedForMs, atMs);
    else if (atMs < this.#nextLookMs) {
      this.#nextLookMs = atMs;
      this.#wake();
    }
  }
}
