import { Module } from '@nestjs/common';

import { BookModule } from '../book/book.module.js';
import { BackupController } from './backup.controller.js';
import { BookController } from './book.controller.js';
import { ExportsController } from './exports.controller.js';
import { OperatorGuard } from './operator-access.js';
import { PaymentEventStreams } from './payment-event-streams.js';
import { PaymentEventsController } from './payment-events.controller.js';
import { PaymentWebhooksController } from './payment-webhooks.controller.js';
import { PaymentsController } from './payments.controller.js';

/** The operator API: everything below `/operator`, for API keys with its scopes. */
@Module({
  imports: [BookModule],
  controllers: [
    BackupController,
    PaymentsController,
    BookController,
    ExportsController,
    PaymentEventsController,
    PaymentWebhooksController,
  ],
  providers: [OperatorGuard, PaymentEventStreams],
})
export class OperatorModule {}
