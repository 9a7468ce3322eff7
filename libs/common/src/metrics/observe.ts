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
