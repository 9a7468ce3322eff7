/**
 * The nonce that a lane is expected to give out next, so that bytes can be signed before it is reserved. The journal
 * decides: bytes under any other nonce than the one it gives out are discarded.
 */
export class NextNonce {
  #next: number | null = null;

  /** @param counter the lane's counter as of a moment ago; it only increases */
  see(counter: number): void {
    this.#next = Math.max(counter, this.#next ?? 0);
  }

  /** The journal gave out this nonce. */
  noteTaken(nonce: number): void {
    this.see(nonce + 1);
  }

  /** The nonce to sign under; the next caller gets the next one. Null: unknown. */
  take(): number | null {
    return this.#next === null ? null : this.#next++;
  }

  /** The expected nonce was wrong, or was not used. */
  forget(): void {
    this.#next = null;
  }
}
