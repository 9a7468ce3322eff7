import { Inject, Module } from '@nestjs/common';

import { SellerChains } from '../chain/seller-chains.js';
import { DailyClosings } from '../closings/daily-closings.js';
import { PaymentWebhooks } from '../delivery/payment-webhooks.js';
import { PublishedEvents } from '../delivery/published-events.js';
import { BookChanges } from '../drain/book-changes.js';
import { BookkeeperConnections } from '../drain/connections.js';
import { OutboxDrain } from '../drain/outbox-drain.js';
import { Journals } from '../journals/journals.js';
import { BookMetrics } from '../metrics/book-metrics.js';
import { ReconcileMetrics } from '../metrics/reconcile-metrics.js';
import { Reconciler } from '../reconcile/reconciler.js';
import { BookHolder } from './book-holder.js';
import { BookRefunds } from './book-refunds.js';

/**
 * Keeps the book: holds it, drains the outbox into it, closes its days, compares it with the chain, brings refunds to
 * their end, and delivers its events.
 */
@Module({
  providers: [
    ...[BookChanges, BookkeeperConnections, BookMetrics, ReconcileMetrics, OutboxDrain, DailyClosings, Reconciler],
    ...[SellerChains, Journals, BookRefunds, PublishedEvents, PaymentWebhooks],
    BookHolder,
  ],
  exports: [
    ...[BookChanges, BookkeeperConnections, OutboxDrain, DailyClosings, Reconciler, SellerChains, Journals],
    ...[BookRefunds, PaymentWebhooks, BookHolder, BookMetrics],
  ],
})
export class BookModule {
  constructor(@Inject(BookMetrics) metrics: BookMetrics, @Inject(BookHolder) book: BookHolder) {
    metrics.observeActive(() => book.isActive);
  }
}
