import { Wakeable } from '../pause.js';

/** If transactions are usually mined within this time, the head is read again without delay. */
const AT_ONCE_MS = 25;
const QUICK_MS = 1_000;
/** The weight of the latest wait for a block in the moving average. */
const WEIGHT = 0.2;
/** As a share of the usual wait: when the first read is due, and the delay before the second. */
const FIRST_SHARE = 0.5;
const STEP_SHARE = 0.125;
const GROWTH = 1.5;

/**
 * Decides when a lane's chain is read next. After something was sent, when its block is due, as learned from earlier
 * blocks; then ever less often, down to the rate of an idle lane.
 */
export class LookPace {
  readonly #firstMs: number;
  readonly #longestMs: number;
  #stepMs: number;
  #lookedAtMs = -Infinity;
  #nextLookMs = -Infinity;
  /** The shortest interval requested since the last read began. */
  #askedForMs = Infinity;
  /** From the acceptance of a transaction to seeing it in a block. */
  #usualMs = 0;
  readonly #sleeper = new Wakeable();
  #isResting = false;

  /** @param firstMs the least time between two reads; if equal to `longestMs`, the interval is constant */
  constructor({ firstMs, longestMs }: { firstMs: number; longestMs: number }) {
    this.#firstMs = Math.min(firstMs, longestMs);
    this.#longestMs = longestMs;
    this.#stepMs = longestMs;
  }

  /** Bytes are being sent; their acceptance may never be reported. */
  noteSent(): void {
    this.#lookIn(Math.max(this.#firstMs, this.#dueMs));
  }

  noteAccepted(): void {
    this.#lookIn(this.#dueMs);
  }

  /** @param waitedMs since the transaction was accepted */
  noteMined(waitedMs: number): void {
    this.#usualMs += WEIGHT * (Math.min(waitedMs, 2 * this.#longestMs) - this.#usualMs);
  }

  /** True when blocks come so fast that a caller may wait for one. */
  get isQuick(): boolean {
    return this.#usualMs < QUICK_MS;
  }

  /** Waits until the next read is due. */
  async rest(signal: AbortSignal): Promise<void> {
    this.#lookedAtMs = performance.now();
    const isAskedFor = this.#askedForMs < this.#lookedAtMs + this.#longestMs;
    this.#nextLookMs = isAskedFor
      ? Math.max(this.#askedForMs, this.#lookedAtMs + this.#firstMs)
      : this.#lookedAtMs + this.#stepMs;
    this.#askedForMs = Infinity;
    this.#stepMs = Math.min(this.#stepMs * GROWTH, this.#longestMs);
    this.#isResting = true;
    while (!signal.aborted && performance.now() < this.#nextLookMs) {
      await this.#sleeper.sleep(this.#nextLookMs - performance.now(), signal);
    }
    this.#isResting = false;
  }

  get #dueMs(): number {
    return this.#usualMs < AT_ONCE_MS ? 0 : this.#usualMs * FIRST_SHARE;
  }

  #lookIn(delayMs: number): void {
    if (this.#firstMs >= this.#longestMs) return;
    const atMs = Math.max(performance.now() + delayMs, this.#lookedAtMs + this.#firstMs);
    this.#stepMs = Math.max(this.#firstMs, this.#usualMs * STEP_SHARE);
    if (!this.#isResting) this.#askedForMs = Math.min(this.#askedForMs, atMs);
    else if (atMs < this.#nextLookMs) {
      this.#nextLookMs = atMs;
      this.#sleeper.wake();
    }
  }
}
