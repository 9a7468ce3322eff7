import type { PaymentStore, StoredValue } from './payment-store.js';

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
