import { Module } from '@nestjs/common';

import { BookModule } from '../book/book.module.js';
import { SellerChain } from '../chain/seller-chain.js';
import { Troubles } from '../health/troubles.js';
import { Journals } from '../jobs/journals.js';
import { OperatorJobs } from '../jobs/operator-jobs.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { OperatorWallets } from '../wallets/operator-wallets.js';
import { AuditTrail } from './audit-trail.js';
import { BookController } from './book.controller.js';
import { EventsController } from './events.controller.js';
import { ExportsController } from './exports.controller.js';
import { OperatorJobsController } from './jobs.controller.js';
import { OperatorGuard } from './operator-access.js';
import { PaymentsController } from './payments.controller.js';
import { ReconcileController } from './reconcile.controller.js';
import { SummaryController } from './summary.controller.js';
import { WalletsController } from './wallets.controller.js';

/** The operator API: everything below `/operator`, for API keys with its scopes. */
@Module({
  imports: [BookModule, SessionsModule],
  controllers: [
    ...[PaymentsController, BookController, ExportsController, SummaryController, EventsController],
    ...[OperatorJobsController, WalletsController, ReconcileController],
  ],
  providers: [OperatorGuard, AuditTrail, SellerChain, Journals, OperatorJobs, OperatorWallets, Troubles],
})
export class OperatorModule {}
