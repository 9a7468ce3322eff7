import { Inject, Injectable } from '@nestjs/common';
import type { Posted } from '@tollgate/book';
import { keepFresh, observeGauge, observeSamples } from '@tollgate/common';
import { withTimeout } from '@tollgate/redis';
import { Counter, Registry } from 'prom-client';

const FRESH_MS = 500;
/** Finding the troubles asks database, Redis and chain. */
const TROUBLES_FRESH_MS = 60_000;
/** A chain that does not answer must not hold up the other metrics; what it takes longer is read by the next scrape. */
const TROUBLES_WITHIN_MS = 2_000;

/** What the bookkeeper has written, and what waits for it. */
@Injectable()
export class BookMetrics {
  readonly #events: Counter<'outcome'>;
  readonly #bookings: Counter;
  readonly #failures: Counter;

  constructor(@Inject(Registry) private readonly registry: Registry) {
    const registers = [registry];
    this.#events = new Counter({
      name: 'tollgate_book_events_total',
      help:
        'Events that were written to the book, by outcome: applied, unread for one of a later release, or refused for one ' +
        'that the database refuses to book.',
      labelNames: ['outcome'],
      registers,
    });
    this.#bookings = new Counter({ name: 'tollgate_book_bookings_total', help: 'Bookings that were made.', registers });
    this.#failures = new Counter({
      name: 'tollgate_book_failures_total',
      help: 'Attempts to write the book that failed and are repeated.',
      registers,
    });
  }

  observeLag(read: () => Promise<{ events: number; ageMs: number }>): void {
    const readOnce = keepFresh(FRESH_MS, read);
    const help = 'Events in the outbox that are not in the book.';
    observeGauge(this.registry, 'tollgate_book_lag_events', help, async () => (await readOnce()).events);
    const ageHelp = 'Age of the oldest event that is not in the book.';
    observeGauge(this.registry, 'tollgate_book_lag_seconds', ageHelp, async () => (await readOnce()).ageMs / 1000);
  }

  observeActive(isActive: () => boolean): void {
    const help = '1 in the bookkeeper that has the book open; the sum over all is 1.';
    observeGauge(this.registry, 'tollgate_book_active', help, () => Number(isActive()));
  }

  observeTroubles(find: () => Promise<readonly { about: string }[]>): void {
    const findOnce = keepFresh(TROUBLES_FRESH_MS, find);
    const help = 'What is wrong, as /operator/health says, by what it is about; nothing where the book is not open.';
    observeSamples(this.registry, { name: 'tollgate_book_troubles', help, labelNames: ['about'] }, async () => {
      const counts = new Map<string, number>();
      for (const { about } of await withTimeout(findOnce(), TROUBLES_WITHIN_MS)) {
        counts.set(about, (counts.get(about) ?? 0) + 1);
      }
      return [...counts].map(([about, value]) => ({ labels: { about }, value }));
    });
  }

  count({ events, unread, refused, bookings }: Posted): void {
    this.#events.inc({ outcome: 'applied' }, events - unread);
    this.#events.inc({ outcome: 'unread' }, unread);
    this.#events.inc({ outcome: 'refused' }, refused);
    this.#bookings.inc(bookings);
  }

  failed(): void {
    this.#failures.inc();
  }
}
