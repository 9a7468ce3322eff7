/** The value under a name, and the time of the store's clock, which all processes that share the store use. */
export interface StoredValue {
  readonly value: string | null;
  readonly nowMs: number;
}

/**
 * Stores what gates know of payments: texts of up to about 350 KB by name. Processes that sell the same resources share
 * one store, and it should not lose a value that it has accepted. Both methods may reject if the store is unavailable.
 */
export interface PaymentStore {
  read(name: string): Promise<StoredValue>;
  /**
   * Replaces `expected` by `value` for `ttlMs`; null stands for no value. False if another value is stored. Must be
   * atomic, or two processes could both sell for one payment. Returns true if `value` is already stored, so that a call
   * whose reply was lost can be repeated.
   */
  replace(name: string, expected: string | null, value: string | null, ttlMs: number): Promise<boolean>;
}

export interface MemoryStoreOptions {
  /** Maximum number of payments; default 10,000. */
  maxEntries?: number;
  /** Maximum number of characters of all payments together; default 64 Mi. */
  maxCharacters?: number;
}

interface Entry {
  readonly value: string;
  readonly untilMs: number;
}

/** A store for a server with one process, until that process ends. The least recently written records are evicted. */
export class MemoryStore implements PaymentStore {
  readonly #entries = new Map<string, Entry>();
  readonly #maxEntries: number;
  readonly #maxCharacters: number;
  #characters = 0;

  constructor({ maxEntries = 10_000, maxCharacters = 64 * 1024 * 1024 }: MemoryStoreOptions = {}) {
    this.#maxEntries = maxEntries;
    this.#maxCharacters = maxCharacters;
  }

  async read(name: string): Promise<StoredValue> {
    const nowMs = performance.now();
    return { value: this.#read(name, nowMs), nowMs };
  }

  async replace(name: string, expected: string | null, value: string | null, ttlMs: number): Promise<boolean> {
    const nowMs = performance.now();
    const current = this.#read(name, nowMs);
    if (current !== expected) return current === value;
    this.#delete(name);
    if (value === null) return true;
    this.#entries.set(name, { value, untilMs: nowMs + ttlMs });
    this.#characters += value.length;
    for (const [oldest] of this.#entries) {
      if (this.#entries.size <= this.#maxEntries && this.#characters <= this.#maxCharacters) break;
      this.#delete(oldest);
    }
    return true;
  }

  #read(name: string, nowMs: number): string | null {
    const entry = this.#entries.get(name);
    if (entry === undefined) return null;
    if (entry.untilMs > nowMs) return entry.value;
    this.#delete(name);
    return null;
  }

  #delete(name: string): void {
    this.#characters -= this.#entries.get(name)?.value.length ?? 0;
    this.#entries.delete(name);
  }
}
