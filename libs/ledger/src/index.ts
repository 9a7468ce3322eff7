export { MAX_RELEASES } from './claim-payment.js';
export { createFingerprint, createOwner, hashRetryKey } from './create-keys.js';
export type { RequestParts } from './create-keys.js';
export { Ledger } from './ledger.js';
export type { LedgerOptions } from './ledger.js';
export { LedgerError, LedgerUnavailableError } from './ledger-error.js';
export { locatePayment, signedPaymentId, transactionEntry, type EntryId, type PaymentId } from './payment-id.js';
export type {
  ClaimRefusal,
  ClaimRequest,
  ClaimResult,
  FindRequest,
  FindResult,
  Lease,
  PaymentCandidate,
  Refusal,
  StoredAnswer,
} from './types.js';
export { listPayments, showPayments } from './read-payments.js';
export type { ListRequest, PaymentDetails, PaymentListing, PaymentState } from './read-payments.js';
export { listRefusals } from './read-refusals.js';
export type { RecordedRefusal } from './read-refusals.js';
