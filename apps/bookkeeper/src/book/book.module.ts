import { Inject, Module } from '@nestjs/common';

import { DailyClosings } from '../closings/daily-closings.js';
import { BookkeeperConnections } from '../drain/connections.js';
import { OutboxDrain } from '../drain/outbox-drain.js';
import { Journals } from '../journals/journals.js';
import { BookMetrics } from '../metrics/book-metrics.js';
import { RefundWork } from '../refunds/refund-work.js';
import { BookHolder } from './book-holder.js';

/** Keeps the book: holds it, drains the outbox into it, closes its days, and brings refunds to their end. */
@Module({
  providers: [BookkeeperConnections, BookMetrics, OutboxDrain, DailyClosings, Journals, RefundWork, BookHolder],
  exports: [BookkeeperConnections, OutboxDrain, DailyClosings, Journals, RefundWork, BookHolder],
})
export class BookModule {
  constructor(@Inject(BookMetrics) metrics: BookMetrics, @Inject(BookHolder) book: BookHolder) {
    metrics.observeActive(() => book.isActive);
  }
}
