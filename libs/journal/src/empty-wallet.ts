/** What this process remembers of a wallet that cannot pay for gas: when to try again, and with which job. */
export class EmptyWallet {
  #isEmpty = false;
  #triedAtMs = -Infinity;
  /** The job whose plan the wallet could not pay for, as far as this process knows. */
  jobId: string | null = null;

  /** True from the moment this process learns that the wallet is empty until the lane resumes. */
  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  note(jobId: string | null = this.jobId): void {
    this.#isEmpty = true;
    this.#triedAtMs = performance.now();
    this.jobId = jobId;
  }

  /** Returns true at most once per interval: the wallet may be tried now. */
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
