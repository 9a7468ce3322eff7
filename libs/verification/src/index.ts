export { ClientShares } from './limits/client-shares.js';
export { ExposureCounter } from './signed/exposure.js';
export { WaitingRoom } from './limits/waiting-room.js';
export {
  MalformedMessageError,
  readBaseUnits,
  readHex,
  readNumber,
  readObject,
  readSignedPaymentQuestion,
  refuseField,
} from './messages/message-fields.js';
export { parseContractSignatureRequest } from './messages/parse-requests.js';
export { parseVerifyPaymentRequest } from './messages/parse-requests.js';
export { parseVerifySignedPaymentRequest } from './messages/parse-requests.js';
export { noteForRefund, type RefundNotes } from './refusals/explain-refusal.js';
export { PaymentRefused } from './refusals/payment-refused.js';
export { AcceptedAssets } from './signed/accepted-assets.js';
export { ContractSignatures } from './signed/contract-signatures.js';
export { SignedPaymentVerifier } from './signed/signed-payment-verifier.js';
export { nameCode, WalletCheck, type WalletRefusal } from './signed/wallet-check.js';
export { PaymentVerifier } from './transactions/payment-verifier.js';
