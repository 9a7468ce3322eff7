import { Inject } from '@nestjs/common';
import type { Hex } from '@tollgate/protocol';

import { BookHolder } from '../book/book-holder.js';
import { OperatorRefunds } from '../jobs/operator-refunds.js';
import { OperatorController, Serve, type Operator } from './operator-controller.js';

@OperatorController()
export class RefundsController {
  constructor(
    @Inject(BookHolder) private readonly book: BookHolder,
    @Inject(OperatorRefunds) private readonly refunds: OperatorRefunds,
  ) {}

  @Serve('GET /operator/payments/:id/refund')
  preview({ id }: Operator<'GET /operator/payments/:id/refund'>) {
    return this.book.refunds.preview(id);
  }

  @Serve('GET /operator/refunds')
  list({ query: { limit, cursor, ...search } }: Operator<'GET /operator/refunds'>) {
    return this.refunds.list(search, { limit, cursor });
  }

  @Serve('GET /operator/refunds/:id')
  read({ id }: Operator<'GET /operator/refunds/:id'>) {
    return this.refunds.show(this.book.refunds.read(id));
  }

  @Serve('POST /operator/refunds')
  ask({ caller, body }: Operator<'POST /operator/refunds'>) {
    return this.refunds.show(this.book.refunds.ask(caller.id, body));
  }

  @Serve('POST /operator/refunds/:id/retry')
  retry({ caller, id }: Operator<'POST /operator/refunds/:id/retry'>) {
    return this.refunds.show(this.book.refunds.retry(caller.id, id));
  }

  @Serve('POST /operator/refunds/:id/give-up')
  giveUp({ id }: Operator<'POST /operator/refunds/:id/give-up'>) {
    return this.refunds.show(this.book.refunds.giveUp(id));
  }

  @Serve('POST /operator/refunds/:id/paid')
  markPaid({ id, body }: Operator<'POST /operator/refunds/:id/paid'>) {
    return this.refunds.show(this.book.refunds.markPaid(id, body.transaction.toLowerCase() as Hex));
  }
}
