/** What one process remembers of a wallet that cannot pay, to know when to try again and with what. */
export class EmptyWallet {
  #isEmpty = false;
  #triedAtMs = -Infinity;
  /** The job whose plan the wallet could not pay for, as far as this process knows. */
  jobId: string | null = null;

  /** True from the moment this process learns it until the lane goes on. */
  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  note(jobId: string | null = this.jobId): void {
    this.#isEmpty = true;
    this.#triedAtMs = performance.now();
    this.jobId = jobId;
  }

  /** True once in so long: the wallet may be tried now. */
  takeTurn(everyMs: number): boolean {
    this.#isEmpty = true;
    if (performance.now() - this.#triedAtMs < everyMs) return false;
    this.#triedAtMs = performance.now();
    return true;
  }

  forget(): void {
    this.#isEmpty = false;
    this.#triedAtMs = -Infinity;
    this.jobId = null;
  }
}
