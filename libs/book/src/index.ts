export { OWED } from './bookings/accounts.js';
export type { Seller } from './bookings/describe-payment.js';
export { PAYMENT_STATES, type PaymentReports, type PaymentState } from './bookings/payment-record.js';
export { closeBook } from './closing/close-book.js';
export type { SignedClosing } from './closing/closing.js';
export type { PaymentProof } from './closing/payment-proof.js';
export { provePayment } from './closing/prove-payment.js';
export { claimBook, type BookPlace } from './database/claim-book.js';
export {
  BookHeldError,
  BookUnavailableError,
  DeposedError,
  type ClaimedDatabase,
  type Queryable,
} from './database/database.js';
export { BookWriter } from './posting/book-writer.js';
export type { DeliveredEvent } from './posting/delivered-event.js';
export { recordAct, type OperatorAct } from './posting/record-act.js';
export { postEvents, postUnread, type Posted } from './posting/post-events.js';
export { EXPORTS, readExport, type ExportName, type ExportPage } from './reading/export-rows.js';
export { readBalances, type Balance } from './reading/read-balances.js';
export { readClosings } from './reading/read-closings.js';
export { readPayment, type PaymentPicture } from './reading/read-payment.js';
export { searchPayments, type ListedPayment, type PaymentPage, type PaymentSearch } from './reading/search-payments.js';
export { verifyBook, type BookVerdict } from './reading/verify-book.js';
