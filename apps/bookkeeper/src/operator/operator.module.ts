import { Module } from '@nestjs/common';

import { BookModule } from '../book/book.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { BookController } from './book.controller.js';
import { EventsController } from './events.controller.js';
import { ExportsController } from './exports.controller.js';
import { OperatorGuard } from './operator-access.js';
import { PaymentsController } from './payments.controller.js';
import { SummaryController } from './summary.controller.js';

/** The operator API: everything below `/operator`, for API keys with its scopes. */
@Module({
  imports: [BookModule, SessionsModule],
  controllers: [PaymentsController, BookController, ExportsController, SummaryController, EventsController],
  providers: [OperatorGuard],
})
export class OperatorModule {}
