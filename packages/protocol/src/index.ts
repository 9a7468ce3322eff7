// A file is named as a whole where all that it exports is published.
export * from './jobs/agent-job-input.js';
export * from './jobs/agent-job-message.js';
export * from './jobs/agent-job.js';
export { encodeBase64, encodeBase64Url } from './wire/base64.js';
export * from './wire/canonical-json.js';
export * from './challenge.js';
export * from './tx-hash/hash-lock.js';
export * from './wire/hex.js';
export * from './wire/http-url.js';
export * from './wire/idempotency-key.js';
export * from './wire/json-header.js';
export * from './wire/json-record.js';
export * from './networks.js';
export * from './logs/find-authorizations.js';
export * from './logs/token-log.js';
export {
  AUTHENTICATION_START,
  challengeNonce,
  encodeChargeRequest,
  encodePaymentReceipt,
  findPaymentCredentials,
  parsePaymentCredential,
  renderAuthenticationEnd,
  withoutPaymentCredentials,
  type AuthenticationChallenge,
  type AuthenticationTerms,
  type ChargeTerms,
  type PaymentCredential,
} from './mpp/payment-authentication.js';
export * from './mpp/received-challenges.js';
export * from './wire/payment-error.js';
export * from './wire/payment-headers.js';
export * from './wire/retry-after.js';
export * from './wire/shared-caches.js';
export * from './x402/payment-identifier.js';
export {
  assertAccepted,
  parsePaymentSignature,
  type OfferedOption,
  type PaymentSignature,
} from './x402/payment-signature.js';
export * from './methods/index.js';
export {
  encodeProof,
  MAX_PROOF_HEADER_BYTES,
  parseProof,
  proofMessage,
  type PaymentProof,
  parseProofOrSigned,
  type SignedProof,
} from './tx-hash/proof.js';
export * from './tx-hash/reference.js';
export * from './x402/sign-in.js';
export * from './transactions/delegated-code.js';
export * from './transactions/fees.js';
export * from './transactions/gas.js';
export * from './transactions/node-words.js';
export * from './wire/token-amount.js';
export * from './x402/facilitator-messages.js';
export * from './x402/facilitator-reasons.js';
export {
  parsePaymentPayload,
  type PaymentPayload,
  type PaymentPayloadV1,
  type PaymentPayloadV2,
} from './x402/payment-payload.js';
export * from './x402/requirements.js';
