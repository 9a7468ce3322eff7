export { MAX_RELEASES } from './claim-payment.js';
export { createFingerprint, createOwner, hashRetryKey } from './create-keys.js';
export { BUCKETS, entryOfKey, REFUSED_SEEN, REFUSED_STREAM } from './keys.js';
export { Ledger } from './ledger.js';
export { readBookedSinceMs } from './outbox.js';
export {
  type EntryId,
  locatePayment,
  nameOfPayment,
  type PaymentId,
  readPaymentName,
  signedPaymentId,
  transactionEntry,
} from './payment-id.js';
export { listPayments, type PaymentDetails, type PaymentListing, showPayments } from './read-payments.js';
export { listRefusals, type RecordedRefusal } from './refusals.js';
export { isBirthKey, restoreBirth } from './restore-birth.js';
export type { ClaimRequest, ClaimResult, Lease, PaymentCandidate, Refusal, StoredAnswer } from './types.js';
