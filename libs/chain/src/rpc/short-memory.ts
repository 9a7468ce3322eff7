export interface ShortMemoryOptions {
  rememberedMs: number;
  maxRemembered: number;
}

/**
 * A bounded cache with an expiry, on a clock that is never set back. When it is full, the oldest entry is dropped first.
 */
export class ShortMemory<Value> {
  readonly #kept = new Map<string, { value: Value; untilMs: number }>();

  constructor(private readonly options: ShortMemoryOptions) {}

  find(name: string): { value: Value; leftMs: number } | null {
    const known = this.#kept.get(name);
    if (known === undefined) return null;
    const leftMs = known.untilMs - performance.now();
    if (leftMs > 0) return { value: known.value, leftMs };
    this.#kept.delete(name);
    return null;
  }

  keep(name: string, value: Value): void {
    const { rememberedMs, maxRemembered } = this.options;
    this.#kept.delete(name);
    this.#kept.set(name, { value, untilMs: performance.now() + rememberedMs });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > maxRemembered && oldest !== undefined) this.#kept.delete(oldest);
  }
}
