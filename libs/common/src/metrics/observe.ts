import { Counter, Gauge, type Registry } from 'prom-client';

interface Counted {
  readonly counts: Readonly<Record<string, number>>;
}

/** Publishes the counts of a transport; read when scraped, so that the hot path only adds to a number. */
export function observeCounts(registry: Registry, prefix: string, help: string, source: Counted): void {
  const counter: Counter<'event'> = new Counter({
    name: `${prefix}_total`,
    help,
    labelNames: ['event'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [event, count] of Object.entries(source.counts)) this.inc({ event }, count);
    },
  });
  void counter;
}

/** A number that is read when scraped. */
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
      // One that cannot be read now keeps its last value: the other metrics are still wanted.
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

/** A number for each set of labels that is read when scraped; those not read any more are gone. */
export function observeSamples<Label extends string>(
  registry: Registry,
  description: { readonly name: string; readonly help: string; readonly labelNames: readonly Label[] },
  read: () => Promise<readonly Sample<Label>[]>,
): void {
  const gauge: Gauge<Label> = new Gauge({
    ...description,
    registers: [registry],
    async collect() {
      // What cannot be read now keeps its last value: the other metrics are still wanted.
      const samples = await read().catch(() => null);
      if (!samples) return;
      this.reset();
      for (const { labels, value } of samples) this.set(labels, value);
    },
  });
  void gauge;
}
