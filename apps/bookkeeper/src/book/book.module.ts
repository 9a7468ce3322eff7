import { Inject, Module } from '@nestjs/common';

import { DailyClosings } from '../closings/daily-closings.js';
import { PaymentWebhooks } from '../delivery/payment-webhooks.js';
import { PublishedEvents } from '../delivery/published-events.js';
import { WebhookSecrets } from '../delivery/webhook-secrets.js';
import { BookkeeperConnections } from '../drain/connections.js';
import { NewsBell } from '../drain/news-bell.js';
import { OutboxDrain } from '../drain/outbox-drain.js';
import { BookMetrics } from '../metrics/book-metrics.js';
import { BookHolder } from './book-holder.js';

/** Keeps the book: holds it, drains the outbox into it, closes its days, and delivers its events. */
@Module({
  providers: [
    ...[BookkeeperConnections, BookMetrics, OutboxDrain, DailyClosings, BookHolder],
    ...[NewsBell, PublishedEvents, PaymentWebhooks, WebhookSecrets],
  ],
  exports: [BookkeeperConnections, DailyClosings, BookHolder, NewsBell, WebhookSecrets],
})
export class BookModule {
  constructor(@Inject(BookMetrics) metrics: BookMetrics, @Inject(BookHolder) book: BookHolder) {
    metrics.observeActive(() => book.isActive);
  }
}
