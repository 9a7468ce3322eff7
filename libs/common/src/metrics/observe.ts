import { Counter, Gauge, type Registry } from 'prom-client';

/** Counts by the values of a label; where there are several labels, those of each next one within. */
export interface Counts {
  readonly [value: string]: number | Counts;
}

/** Publishes counts. They are read at each scrape, so that the hot path only increments a number. */
export function observeCounts(
  registry: Registry,
  prefix: string,
  help: string,
  read: () => Counts,
  labelNames: readonly string[] = ['event'],
): void {
  const counter: Counter = new Counter({
    name: `${prefix}_total`,
    help,
    labelNames,
    registers: [registry],
    collect() {
      this.reset();
      for (const { values, count } of listCounts(read()))
        this.inc(Object.fromEntries(labelNames.map((name, at) => [name, values[at] ?? ''])), count);
    },
  });
  void counter;
}

function listCounts(counts: Counts): { values: string[]; count: number }[] {
  return Object.entries(counts).flatMap(([value, within]) =>
    typeof within === 'number'
      ? [{ values: [value], count: within }]
      : listCounts(within).map(({ values, count }) => ({ values: [value, ...values], count })),
  );
}

/** A gauge that is read at each scrape. */
export function observeGauge(
  registry: Registry,
  name: string,
  help: string,
  read: () => number | Promise<number>,
): void {
  const gauge = new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      // A gauge that cannot be read keeps its last value, so that the other metrics are still served.
      await Promise.resolve()
        .then(read)
        .then((value) => this.set(value))
        .catch(() => undefined);
    },
  });
  void gauge;
}

export interface Sample<Label extends string> {
  readonly labels: Partial<Record<Label, string>>;
  readonly value: number;
}

/** A gauge for each set of labels, read at each scrape; sets that are no longer returned disappear. */
export function observeSamples<Label extends string>(
  registry: Registry,
  description: { readonly name: string; readonly help: string; readonly labelNames: readonly Label[] },
  read: () => Promise<readonly Sample<Label>[]>,
): void {
  const gauge: Gauge<Label> = new Gauge({
    ...description,
    registers: [registry],
    async collect() {
      // Samples that cannot be read keep their last values, so that the other metrics are still served.
      const samples = await read().catch(() => null);
      if (!samples) return;
      this.reset();
      for (const { labels, value } of samples) this.set(labels, value);
    },
  });
  void gauge;
}

/** Shares one reading among all callers within `freshMs`; a reading that fails is not kept. */
export function keepFresh<T>(freshMs: number, read: () => Promise<T>): () => Promise<T> {
  let kept: { reading: Promise<T>; sinceMs: number } | null = null;
  return () => {
    if (kept && performance.now() - kept.sinceMs < freshMs) return kept.reading;
    const reading = read();
    const mine = { reading, sinceMs: performance.now() };
    kept = mine;
    reading.catch(() => {
      if (kept === mine) kept = null;
    });
    return reading;
  };
}
