export { createChallenge, parseChallenge, type PaymentChallenge } from './challenge.js';
export {
  appendHashLock,
  createHashLock,
  findHashLocks,
  LOCK_MARKER,
  matchesHashLock,
  type LockedTransfer,
} from './hash-lock.js';
export { isAddress, isHash, isHexBytes, type Hex } from './hex.js';
export {
  challengeErrorFor,
  CLIENT_FAILURES,
  PAYMENT_FAILURES,
  PaymentError,
  type ChallengeError,
  type ClientFailure,
  type PaymentErrorCode,
  type PaymentErrorOptions,
  type PaymentFailure,
} from './payment-error.js';
export {
  IDEMPOTENCY_KEY,
  IDEMPOTENT_REPLAYED,
  X_PAYMENT,
  X_PAYMENT_FAILURE,
  X_PAYMENT_RELEASED,
} from './payment-headers.js';
export { encodeProof, MAX_PROOF_HEADER_BYTES, parseProof, proofMessage, type PaymentProof } from './proof.js';
export {
  createReference,
  readReference,
  verifyReference,
  type HmacSha256,
  type ReferenceParts,
  type ReferenceTerms,
} from './reference.js';
export { parsePaymentRequirement, type PaymentRequirement } from './requirement.js';
export { formatTokenAmount, MAX_UINT256, parseTokenAmount } from './token-amount.js';
