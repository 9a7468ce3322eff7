import { readPaymentName, type CloseResult, type PaymentId } from '@tollgate/ledger';
import type { Hex } from '@tollgate/protocol';

import type { RefundBook, RefundPorts } from './ports.js';
import { isRefundOf } from './refund-job.js';
import type { Refund } from './refund.js';

/**
 * Closes the payment, and before it the permit that moved the money, which could buy an answer under its own name. The
 * book has the money under the payment's name, so only that closing is reported to it.
 * @param isPaid the refund was sent: they are closed whatever they are
 */
export async function closeForRefund(
  { ledger }: Pick<RefundPorts, 'ledger'>,
  refund: Refund,
  isPaid = false,
): Promise<CloseResult> {
  const { id, payment, permit, reason, answered } = refund;
  if (permit !== null) {
    const asked = { id: parsePayment(permit), refund: id, reason, allowsAnswered: isPaid, isReported: false };
    const closed = await ledger.close(asked);
    if (!isOwn(refund, closed)) return closed;
  }
  return ledger.close({ id: parsePayment(payment), refund: id, reason, allowsAnswered: answered || isPaid });
}

/** Whether the ledger is closed, by a refund of this payment, also one that a book which was restored does not have. */
export function isOwn({ payment }: Refund, closed: CloseResult): boolean {
  return closed.outcome === 'closed_before' ? isRefundOf(payment, closed.by) : closed.outcome === 'closed';
}

/**
 * When the attempt began, in milliseconds since 1970: a job may have been written since then. The first one may be older than
 * this row, in a book that was restored.
 */
export function beginOf({ attempt, attemptAt }: Refund, closed: CloseResult): number {
  const atMs = Date.parse(attemptAt);
  return attempt === 1 && closed.outcome === 'closed_before' ? Math.min(closed.sinceMs, atMs) : atMs;
}

/** The payment's refunds that the ledger has as paid and the book lacks, which was restored from a copy or has lost data. */
export async function findLost(
  book: RefundBook,
  { payment, refunds }: { payment: string; refunds: readonly Refund[] },
  closed: CloseResult,
): Promise<string[]> {
  if (closed.outcome !== 'closed_before') return [];
  const known = [
    ...(await book.readPaidBack(payment)).map(({ refund }) => refund),
    ...refunds.filter(({ state }) => state === 'refunded').map(({ id }) => id),
  ];
  return closed.paid.filter((id) => !known.includes(id));
}

/**
 * Reports the refund, from which it is booked; once, however often it is called, and again where the book does not have it.
 * The book counts a transaction once.
 */
export async function reportPaid(ports: RefundPorts, refund: Refund, transaction: Hex): Promise<void> {
  const { ledger, book } = ports;
  const { id, payment, amount, recipient } = refund;
  const paymentId = parsePayment(payment);
  const facts = { refund: id, transaction, amount, recipient: recipient as Hex };
  try {
    const isNew = await ledger.recordRefunded(paymentId, facts);
    if (isNew || (await findBooked(book, refund)) !== undefined) return;
    await ledger.recordRefunded(paymentId, facts, { again: true });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // Redis has lost that the payment was closed. It is closed again, whatever it may have become since.
    await closeForRefund(ports, refund, true);
    await ledger.recordRefunded(paymentId, facts);
  }
}

/** The refund's own transfer, where it is booked. */
export async function findBooked(book: RefundBook, { id, payment }: Refund) {
  return (await book.readPaidBack(payment)).find(({ refund }) => refund === id);
}

function parsePayment(name: string): PaymentId {
  const id = readPaymentName(name);
  if (id === null) throw new Error(`${name} is not a payment's name`);
  return id;
}
