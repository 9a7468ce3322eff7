import { JOB_ABANDONED } from '@tollgate/agent-jobs';
import { changeRefund, takeTransaction, type BookWriter, type Refund } from '@tollgate/book';
import { crashPoint } from '@tollgate/journal';
import type { Hex } from '@tollgate/protocol';

import type { Journals } from '../journals/journals.js';
import { describeInput, hasFailed, isSameTransfer, minedTransaction } from './refund-attempt.js';
import * as details from './refund-details.js';
import { findBookedRefund, hasPaidAnother, type RefundLedger } from './refund-ledger.js';

/** Reads how refunds ended, from their jobs and from the book, and records those that were paid. Each call may be repeated. */
export class RefundEnd {
  constructor(
    private readonly journals: Journals,
    private readonly ledger: RefundLedger,
  ) {}

  /**
   * The refund as refunded, where the book has its transfer already, whatever the journal has lost since; null: it has not.
   * @throws BookUnavailableError, DeposedError
   */
  async recognise(writer: BookWriter, refund: Refund): Promise<Refund | null> {
    const paid = await findBookedRefund(writer.database, refund);
    if (paid === undefined) return null;
    const change = { state: 'refunded', transaction: paid.transaction, detail: null } as const;
    return changeRefund(writer, refund, ['closed', 'sending', 'failed', 'given_up'], change);
  }

  /**
   * A refund that has failed or was given up, as it goes on: the book has its transfer, or, where it has failed, the journal
   * has its job again, which it had lost; null: neither.
   * @throws StoreError, BookUnavailableError, DeposedError
   */
  async recover(writer: BookWriter, refund: Refund): Promise<Refund | null> {
    const paid = await this.recognise(writer, refund);
    if (paid !== null) return paid;
    const job = await this.journals.journal.readJob(refund.job ?? '');
    if (job === null || hasFailed(job) || !isSameTransfer(job, describeInput(refund))) return null;
    // Another refund has the transaction of this job, and it would fail by it again.
    if (await hasPaidAnother(writer.database, job, refund)) return null;
    return changeRefund(writer, refund, ['failed'], { state: 'sending', transaction: null, detail: null });
  }

  /** A refund that is sending, after the end of its job; null: it has not ended. */
  async read(writer: BookWriter, refund: Refund): Promise<Refund | null> {
    // Named by a person, because the journal no longer has the job, or noted below.
    if (refund.transaction !== null) return this.#record(writer, refund, refund.transaction as Hex);
    const job = await this.journals.journal.readJob(refund.job ?? '');
    const failUnknown = (detail: string) =>
      changeRefund(writer, refund, ['sending'], { state: 'failed', detail, maybeSent: true });
    if (job === null) return (await this.recognise(writer, refund)) ?? failUnknown(details.FORGOTTEN);
    if (job.state !== 'FINAL') {
      if (!hasFailed(job)) return null;
      if (job.failure?.code === JOB_ABANDONED) return failUnknown(details.ABANDONED);
      const detail = job.failure?.message ?? `Its job ended as ${job.state}.`;
      return changeRefund(writer, refund, ['sending'], { state: 'failed', detail });
    }
    const transaction = minedTransaction(job);
    const taken = await takeTransaction(writer, refund, transaction);
    if (taken?.outcome === 'taken') return failUnknown(details.describeTaken(transaction, taken.by));
    return taken === null ? null : this.#record(writer, taken.refund, transaction);
  }

  async #record(writer: BookWriter, refund: Refund, transaction: Hex): Promise<Refund | null> {
    crashPoint('R5');
    await this.ledger.record(writer, refund, transaction);
    crashPoint('R6');
    return changeRefund(writer, refund, ['sending'], { state: 'refunded', transaction, detail: null });
  }
}
