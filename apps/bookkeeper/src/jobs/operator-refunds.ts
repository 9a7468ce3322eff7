import { Inject, Injectable } from '@nestjs/common';
import { digestPlan } from '@tollgate/agent-jobs';
import { refuseRequest } from '@tollgate/http';
import { UnreadableJobError } from '@tollgate/journal';
import type { OperatorRefund, OperatorRefundPage } from '@tollgate/operator-api';
import type { Refund, Refunds } from '@tollgate/refunds';

import { BookHolder } from '../book/book-holder.js';
import { Journals } from '../journals/journals.js';

/** Shows refunds with the states of their jobs. */
@Injectable()
export class OperatorRefunds {
  constructor(
    @Inject(Journals) private readonly journals: Journals,
    @Inject(BookHolder) private readonly book: BookHolder,
  ) {}

  async list(...[search, page]: Parameters<Refunds['list']>): Promise<OperatorRefundPage> {
    const found = await this.book.refunds.list(search, page).catch((error: unknown) => {
      throw error instanceof RangeError ? refuseRequest(['cursor is not one of this list']) : error;
    });
    return { refunds: await this.#describe(found.refunds), cursor: found.cursor };
  }

  async show(refund: Promise<Refund>): Promise<OperatorRefund> {
    const [described] = await this.#describe([await refund]);
    if (described === undefined) throw new Error('a refund is described as one');
    return described;
  }

  async #describe(refunds: readonly Refund[]): Promise<OperatorRefund[]> {
    const jobs = await this.journals.journal.readEachJob(refunds.map(({ job }) => job ?? ''));
    return refunds.map((refund, index) => {
      const job = jobs[index] ?? null;
      if (job instanceof UnreadableJobError) {
        this.journals.report(job);
        return { ...refund, jobState: 'unreadable', planDigest: null };
      }
      return { ...refund, jobState: job?.state ?? null, planDigest: job === null ? null : digestPlan(job) };
    });
  }
}
