export type { AcceptedToken, BookSeller, ListedPayment } from './bookings/describe-payment.js';
export { BOOKED_STATES } from './bookings/booked-states.js';
export { closeBook } from './closing/close-book.js';
export { signedClosing, type SignedClosing } from './closing/closing.js';
export { bookProof } from './closing/payment-proof.js';
export { provePayment } from './closing/prove-payment.js';
export { copyBook, type CopyEnd } from './copies/copy-book.js';
export { CopyRefusedError, restoreBook } from './copies/restore-book.js';
export { claimBook, type BookPlace } from './database/claim-book.js';
export {
  BookHeldError,
  BookUnavailableError,
  DeposedError,
  NoSpaceError,
  type ClaimedDatabase,
  type Queryable,
} from './database/database.js';
export { InTurn } from './database/in-turn.js';
export { BookWriter } from './posting/book-writer.js';
export type { DeliveredEvent } from './posting/take-events.js';
export { recordAct } from './posting/record-act.js';
export { bookEvents, bookUnapplied, FIRST_UNAPPLIED } from './posting/book-events.js';
export type { Posted } from './posting/post-events.js';
export { notePositions, type StreamPosition } from './posting/stream-positions.js';
export { EXPORTS, readExport, type ExportName, type ExportRow } from './reading/export-rows.js';
export { balance, readBalances, type Balance } from './reading/read-balances.js';
export { auditPage, readAudit } from './reading/read-audit.js';
export { readClosings, readOpenBookings } from './reading/read-closings.js';
export { paymentPicture, readBookedPayment, type PaymentPicture, type TimelineStep } from './reading/read-payment.js';
export { countUnapplied, listRefusedEvents, type RefusedEvent } from './reading/read-unapplied.js';
export {
  bookSummary,
  readSummary,
  SUMMARY_WINDOWS,
  type BookSummary,
  type SummaryWindow,
} from './reading/read-summary.js';
export {
  countLeftOver,
  PAYMENT_ORDERS,
  paymentPage,
  searchPayments,
  type PaymentPage,
} from './reading/search-payments.js';
export { SqlRefundBook } from './refund-rows/refund-book.js';
export { bookVerdict, verifyBook, type BookVerdict } from './reading/verify-book.js';
export {
  readAnchors,
  readCompleteFrom,
  readChainPosition,
  type ChainPosition,
  type ChainScope,
} from './reconcile/chain-scope.js';
export { storeDifferences, sumDifferences, type Difference, type ListedDifference } from './reconcile/differences.js';
export { readLostTransfers, readOpenQuestions, type OpenQuestions } from './reconcile/open-questions.js';
export { comparedScope, readReconciliation, reconciliation } from './reconcile/read-reconciliation.js';
export { readLeastUnclaimed } from './reconcile/read-least-unclaimed.js';
export * from './reconcile/senders.js';
export {
  postAnswers,
  unknownTransaction,
  type Answered,
  type AnswerTerms,
  type ChainAnswers,
} from './reconcile/post-answers.js';
export type { OwnReceipt, UnreportedTransaction } from './reconcile/reconcile-gas.js';
export type { MoneyAnswer, NamedTransfer } from './reconcile/reconcile-money.js';
export { beginAt, matchTransfers, rewind, storePage } from './reconcile/store-transfers.js';
export { monthsBefore, removedRequests, removeRequests } from './retention/remove-requests.js';
export { OUTGOING_EVENT_TYPES, type OutgoingEvent, type OutgoingEventType } from './events/outgoing-event.js';
export * from './delivery/read-events.js';
