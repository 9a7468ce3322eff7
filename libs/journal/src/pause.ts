/** A sleep that can be ended from outside. A wake-up that arrives between two sleeps ends the next one at once. */
export class Wakeable {
  #isWoken = false;
  #end: (() => void) | null = null;

  wake(): void {
    this.#isWoken = true;
    this.#end?.();
  }

  /** Resolves after the time, at a wake-up, or when the signal is aborted. One sleep at a time. */
  async sleep(forMs: number, signal?: AbortSignal): Promise<void> {
    if (!this.#isWoken && signal?.aborted !== true) {
      await new Promise<void>((resolve) => {
        const end = (): void => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', end);
          resolve();
        };
        const timer = setTimeout(end, forMs);
        signal?.addEventListener('abort', end);
        this.#end = end;
      });
      this.#end = null;
    }
    this.#isWoken = false;
  }
}

/** Resolves after the delay, or at once when the signal is aborted. */
export function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Wakeable().sleep(delayMs, signal);
}
