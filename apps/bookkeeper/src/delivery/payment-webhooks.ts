import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { trimOutgoingEvents, type BookWriter, type NumberedEvent } from '@tollgate/book';
import { deriveWebhookSecret, Webhooks } from '@tollgate/webhooks';
import { Registry } from 'prom-client';

import { BookkeeperEnvironment } from '../config/bookkeeper.config.js';
import { BookChanges } from '../drain/book-changes.js';
import { BookkeeperConnections } from '../drain/connections.js';
import { followBook } from './follow-book.js';

const METRICS = {
  outcomes: 'tollgate_payment_webhook_deliveries_total',
  durations: 'tollgate_payment_webhook_duration_seconds',
  waiting: 'tollgate_payment_webhook_waiting',
  dead: 'tollgate_payment_webhook_dead_letters',
};
const TRIM_EVERY_MS = 60_000;

/**
 * Posts the events of payments to webhook targets. How far the book was followed is in Redis beside what waits there: if
 * Redis loses the one, it loses the other, and the events are added again.
 */
@Injectable()
export class PaymentWebhooks implements OnApplicationShutdown {
  readonly webhooks: Webhooks;
  #trimmedAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    @Inject(BookkeeperEnvironment) private readonly environment: BookkeeperEnvironment,
    @Inject(BookkeeperConnections) { commands: redis }: BookkeeperConnections,
    @Inject(BookChanges) private readonly changes: BookChanges,
    @Inject(Registry) registry: Registry,
  ) {
    // Secrets are derived from the key of the closings.
    const key = environment.book.bookSigningKey.replace(/^0x/i, '').toLowerCase();
    this.webhooks = new Webhooks({
      redis,
      subject: 'payments',
      registry,
      metrics: METRICS,
      settings: environment.webhooks,
      secretOf: (targetId) => deriveWebhookSecret(key, targetId),
      rules: { allowPrivateTargets: environment.targets.allowPrivateTargets },
    });
  }

  /** Until the signal is aborted. @throws DeposedError */
  async run(writer: BookWriter, signal: AbortSignal): Promise<void> {
    const ending = new AbortController();
    const posting = this.webhooks.run(AbortSignal.any([signal, ending.signal]));
    try {
      await followBook(
        'Webhooks',
        { writer, changes: this.changes, signal },
        {
          readPosition: () => this.webhooks.deliveries.readPosition(),
          take: (events, from) => this.#take(writer, events, from),
        },
      );
    } finally {
      ending.abort();
      await posting;
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.webhooks.close();
  }

  async #take(writer: BookWriter, events: readonly NumberedEvent[], from: number): Promise<void> {
    const to = events.at(-1)?.number ?? from;
    // The targets of any key receive all.
    const announced = events.map(({ number, event }) => ({ keyId: null, order: number, event }));
    await this.webhooks.take(announced, { from, to });
    const nowMs = performance.now();
    if (nowMs - this.#trimmedAtMs < TRIM_EVERY_MS) return;
    this.#trimmedAtMs = nowMs;
    await trimOutgoingEvents(writer, this.environment.events.bookEventsKept, to);
  }
}
