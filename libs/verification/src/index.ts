export { ClientShares } from './limits/client-shares.js';
export { WaitingRoom } from './limits/waiting-room.js';
export {
  MalformedMessageError,
  parseContractSignatureRequest,
  parseSettleRequest,
  parseVerifyLockRequest,
  parseVerifyPaymentRequest,
  parseVerifySignedPaymentRequest,
  readBaseUnits,
  readHex,
  readNumber,
  readObject,
  refuseField,
} from './messages.js';
export { noteForRefund, PaymentRefused, type RefundNotes } from './refusals.js';
export { AcceptedAssets, type MisnamedToken } from './signed/accepted-assets.js';
export { ContractSignatures } from './signed/contract-signatures.js';
export { Deployments } from './signed/deployments.js';
export { ExposureCounter } from './signed/exposure.js';
export { SignedPaymentVerifier } from './signed/signed-payment-verifier.js';
export { findRunningCode, WalletCheck } from './signed/wallet-check.js';
export type { RunningCode, WalletBudget, WalletRefusal } from './signed/wallet-check.js';
export { PaidLocks } from './transactions/paid-locks.js';
export { PaymentVerifier, type VerifierTerms } from './transactions/payment-verifier.js';
