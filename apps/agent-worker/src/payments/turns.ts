interface Waiting {
  origin: string;
  begin: () => void;
}

/**
 * Limits concurrent work, in total and per origin, which is a server or a wallet, so that a slow one does not block the
 * others. Waiting work runs in order; work for an origin that has reached its limit is passed over.
 */
export class Turns {
  readonly #limits: { total: number; perOrigin: number };
  readonly #running = new Map<string, number>();
  #total = 0;
  #waiting: Waiting[] = [];

  constructor(limits: { total: number; perOrigin: number }) {
    this.#limits = limits;
  }

  /** @throws the signal's reason when it is aborted before the turn, or the error of the work itself */
  async run<T>(origin: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#take(origin, signal);
    try {
      return await work();
    } finally {
      this.#give(origin);
    }
  }

  #take(origin: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting);
        reject(signal.reason as Error);
      };
      const begin = () => {
        signal.removeEventListener('abort', leave);
        this.#total++;
        this.#running.set(origin, (this.#running.get(origin) ?? 0) + 1);
        resolve();
      };
      const waiting = { origin, begin };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(waiting);
      this.#serve();
    });
  }

  #give(origin: string): void {
    this.#total--;
    const left = (this.#running.get(origin) ?? 1) - 1;
    if (left === 0) this.#running.delete(origin);
    else this.#running.set(origin, left);
    this.#serve();
  }

  #serve(): void {
    while (this.#total < this.#limits.total) {
      const index = this.#waiting.findIndex(({ origin }) => (this.#running.get(origin) ?? 0) < this.#limits.perOrigin);
      const [next] = index < 0 ? [] : this.#waiting.splice(index, 1);
      if (!next) return;
      next.begin();
    }
  }
}
