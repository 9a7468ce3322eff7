export interface ShortMemoryOptions {
  rememberedMs: number;
  maxRemembered: number;
  nowMs: () => number;
}

/** A bounded cache with an expiry: when it is full, the oldest entry is dropped first. */
export class ShortMemory<Value> {
  private readonly kept = new Map<string, { value: Value; untilMs: number }>();

  constructor(private readonly options: ShortMemoryOptions) {}

  find(name: string): { value: Value; leftMs: number } | null {
    const known = this.kept.get(name);
    if (known === undefined) return null;
    const leftMs = known.untilMs - this.options.nowMs();
    if (leftMs > 0) return { value: known.value, leftMs };
    this.kept.delete(name);
    return null;
  }

  keep(name: string, value: Value): void {
    const { rememberedMs, maxRemembered, nowMs } = this.options;
    this.kept.delete(name);
    this.kept.set(name, { value, untilMs: nowMs() + rememberedMs });
    const [oldest] = this.kept.keys();
    if (this.kept.size > maxRemembered && oldest !== undefined) this.kept.delete(oldest);
  }
}
