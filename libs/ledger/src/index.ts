export { MAX_RELEASES } from './claim-payment.js';
export type { CloseResult } from './close-payment.js';
export { createFingerprint, createOwner, hashRetryKey } from './create-keys.js';
export { BUCKETS, entryOfKey, REFUSED_SEEN, REFUSED_STREAM } from './keys.js';
export { Ledger } from './ledger.js';
export { isBookOff, readBookedSinceMs } from './outbox.js';
export {
  isSignedId,
  locatePayment,
  nameOfPayment,
  readPaymentName,
  signedPaymentId,
  transactionEntry,
} from './payment-id.js';
export type { EntryId, PaymentId } from './payment-id.js';
export { listPayments, type PaymentDetails, type PaymentListing, showPayments } from './read-payments.js';
export { listRefusals, type RecordedRefusal } from './refusals.js';
export { isBirthKey, restoreBirth } from './continuity.js';
export type { ClaimRequest, ClaimResult, Lease, PaymentCandidate, Refusal, StoredAnswer } from './types.js';
