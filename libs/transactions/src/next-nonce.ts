/**
 * The nonce that a lane is believed to give out next, so that bytes can be signed before it is taken. The journal has the
 * last word: bytes under another nonce than the one it gives are forgotten.
 */
export class NextNonce {
  #next: number | null = null;

  /** @param counter where the lane's counter stood a moment ago: it only goes up */
  see(counter: number): void {
    this.#next = Math.max(counter, this.#next ?? 0);
  }

  /** The journal gave out this one. */
  noteTaken(nonce: number): void {
    this.see(nonce + 1);
  }

  /** The one to sign under; the next caller is told the next. Null: unknown. */
  take(): number | null {
    return this.#next === null ? null : this.#next++;
  }

  /** What was told was wrong, or not taken. */
  forget(): void {
    this.#next = null;
  }
}
