export { MAX_RELEASES } from './claim-payment.js';
export type { CloseResult } from './close-payment.js';
export { createFingerprint, createOwner, hashRetryKey } from './create-keys.js';
export { Ledger } from './ledger.js';
export { readBookedSinceMs } from './outbox.js';
export {
  locatePayment,
  nameOfPayment,
  readPaymentName,
  signedPaymentId,
  transactionEntry,
  type EntryId,
  type PaymentId,
} from './payment-id.js';
export type { ClaimRequest, ClaimResult, Lease, PaymentCandidate, Refusal, StoredAnswer } from './types.js';
export { listPayments, showPayments } from './read-payments.js';
export type { PaymentDetails, PaymentListing } from './read-payments.js';
export { listRefusals } from './read-refusals.js';
export type { RecordedRefusal } from './read-refusals.js';
export { isBirthKey, restoreBirth } from './restore-birth.js';
export { BUCKETS, entryOfKey, REFUSED_SEEN, REFUSED_STREAM } from './keys.js';
