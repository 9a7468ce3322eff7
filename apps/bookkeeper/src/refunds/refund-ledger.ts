import { isRefundOf } from '@tollgate/agent-jobs';
import { findRefundPaidBy, readPaidBack, type BookWriter, type Queryable, type Refund } from '@tollgate/book';
import type { JobRecord } from '@tollgate/journal';
import { readPaymentName, type CloseResult, type Ledger, type PaymentId } from '@tollgate/ledger';
import type { Hex } from '@tollgate/protocol';

import { minedTransaction } from './refund-attempt.js';

/** Closes payments for their refunds in the ledger, and reports refunds to it: both are booked from its events. Each call may be repeated. */
export class RefundLedger {
  constructor(private readonly ledger: Ledger) {}

  /**
   * Closes the payment, and before it the permit that moved the money, which could buy an answer under its own name. The
   * book has the money under the payment's name, so only that closing is reported to it.
   * @param isPaid the refund was sent: they are closed whatever they are
   */
  async close(refund: Refund, isPaid = false): Promise<CloseResult> {
    const { id, payment, permit, reason, answered } = refund;
    if (permit !== null) {
      const asked = { id: parsePayment(permit), refund: id, reason, allowsAnswered: isPaid, isReported: false };
      const closed = await this.ledger.close(asked);
      if (!this.isOwn(refund, closed)) return closed;
    }
    return this.ledger.close({ id: parsePayment(payment), refund: id, reason, allowsAnswered: answered || isPaid });
  }

  /** Whether the ledger is closed, by a refund of this payment, also one that a book which was restored does not have. */
  isOwn({ payment }: Refund, closed: CloseResult): boolean {
    return closed.outcome === 'closed_before' ? isRefundOf(payment, closed.by) : closed.outcome === 'closed';
  }

  /** The payment's refunds that the ledger has as paid and the book lacks, which was restored from a copy or has lost data. */
  async findLost(
    within: Queryable,
    { payment, refunds }: { payment: string; refunds: readonly Refund[] },
    closed: CloseResult,
  ): Promise<string[]> {
    if (closed.outcome !== 'closed_before') return [];
    const known = [
      ...(await readPaidBack(within, payment)).map(({ refund }) => refund),
      ...refunds.filter(({ state }) => state === 'refunded').map(({ id }) => id),
    ];
    return closed.paid.filter((id) => !known.includes(id));
  }

  /**
   * Reports the refund, from which it is booked; once, however often it is called, and again where the book does not have
   * it. The book counts a transaction once.
   */
  async record(writer: BookWriter, refund: Refund, transaction: Hex): Promise<void> {
    const { id, payment, amount, recipient } = refund;
    const paymentId = parsePayment(payment);
    const facts = { refund: id, transaction, amount, recipient: recipient as Hex };
    try {
      const isNew = await this.ledger.recordRefunded(paymentId, facts);
      if (isNew || (await findBookedRefund(writer.database, refund)) !== undefined) return;
      await this.ledger.recordRefunded(paymentId, facts, { again: true });
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      // Redis has lost that the payment was closed. It is closed again, whatever it may have become since.
      await this.close(refund, true);
      await this.ledger.recordRefunded(paymentId, facts);
    }
  }
}

/** Whether a job's transaction is booked for another refund: then it has not paid this one. */
export async function hasPaidAnother(within: Queryable, job: JobRecord, { id }: Refund): Promise<boolean> {
  return job.state === 'FINAL' && (await findRefundPaidBy(within, minedTransaction(job), id)) !== null;
}

/** The refund's own event in the book. */
export async function findBookedRefund(within: Queryable, { id, payment }: Refund) {
  return (await readPaidBack(within, payment)).find(({ refund }) => refund === id);
}

function parsePayment(name: string): PaymentId {
  const id = readPaymentName(name);
  if (id === null) throw new Error(`${name} is not a payment's name`);
  return id;
}
