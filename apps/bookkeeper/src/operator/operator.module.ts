import { Inject, Module } from '@nestjs/common';

import { BookHolder } from '../book/book-holder.js';
import { BookModule } from '../book/book.module.js';
import { Troubles } from '../health/troubles.js';
import { OperatorJobs } from '../jobs/operator-jobs.js';
import { OperatorRefunds } from '../jobs/operator-refunds.js';
import { BookMetrics } from '../metrics/book-metrics.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { OperatorWallets } from '../wallets/operator-wallets.js';
import { BackupController } from './backup.controller.js';
import { BookController } from './book.controller.js';
import { ChangesController } from './changes.controller.js';
import { ExportsController } from './exports.controller.js';
import { OperatorJobsController } from './jobs.controller.js';
import { LongReadings } from './long-readings.js';
import { AuditTrail, OperatorGuard } from './operator-controller.js';
import { PaymentEventsController, PaymentEventStreams } from './payment-events.controller.js';
import { PaymentWebhooksController } from './payment-webhooks.controller.js';
import { PaymentsController } from './payments.controller.js';
import { ReconcileController } from './reconcile.controller.js';
import { RefundsController } from './refunds.controller.js';
import { SummaryController } from './summary.controller.js';
import { WalletsController } from './wallets.controller.js';

/** The operator API: everything below `/operator`, for API keys with its scopes. */
@Module({
  imports: [BookModule, SessionsModule],
  controllers: [
    ...[PaymentsController, BookController, ExportsController, SummaryController, ChangesController],
    ...[OperatorJobsController, WalletsController, ReconcileController, RefundsController],
    ...[PaymentEventsController, PaymentWebhooksController, BackupController],
  ],
  providers: [
    ...[OperatorGuard, AuditTrail, OperatorJobs, OperatorWallets, Troubles, OperatorRefunds],
    ...[PaymentEventStreams, LongReadings],
  ],
})
export class OperatorModule {
  constructor(
    @Inject(BookMetrics) metrics: BookMetrics,
    @Inject(BookHolder) book: BookHolder,
    @Inject(Troubles) troubles: Troubles,
  ) {
    metrics.observeTroubles(async () => (book.isActive ? troubles.find() : []));
  }
}
