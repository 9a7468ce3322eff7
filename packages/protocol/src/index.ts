export { MAX_LEVERAGE, type AgentJob, type AgentJobInputs, type AgentJobOf } from './jobs/agent-job-input.js';
export {
  AGENT_JOB_MESSAGE_VERSION,
  AGENT_JOBS_QUEUE,
  AGENT_QUEUE_PREFIX,
  agentJobSigningText,
  type AgentJobMessage,
} from './jobs/agent-job-message.js';
export {
  AGENT_OPERATIONS,
  JOB_OPERATIONS,
  EVENT_TYPES,
  FINAL_STATES,
  JOB_STATES,
  OPEN_STATES,
  type AgentAmountView,
  type AgentAnswerView,
  type AgentAttemptView,
  type AgentJobEvent,
  type AgentJobPage,
  type AgentJobRequest,
  type AgentJobView,
  type AgentOperation,
  type JobOperation,
  type AgentPlanView,
  type AgentStepView,
  type FinalState,
  type JobEventType,
  type JobFailure,
  type JobState,
  type OpenState,
} from './jobs/agent-job.js';
export { canonicalJson } from './wire/canonical-json.js';
export {
  createChallenge,
  parseChallenge,
  parsePaymentRequirement,
  type PaymentChallenge,
  type PaymentRequirement,
} from './challenge.js';
export {
  appendHashLock,
  createHashLock,
  findHashLocks,
  LOCK_MARKER,
  matchesHashLock,
  type LockedTransfer,
} from './tx-hash/hash-lock.js';
export { isAddress, isHash, isHexBytes, type Hex } from './wire/hex.js';
export { isHttpUrl } from './wire/http-url.js';
export { decodeJsonHeader, encodeJsonHeader } from './wire/json-header.js';
export { isRecord, ownField, type JsonRecord } from './wire/json-record.js';
export { caip2Of, v1NetworkOf } from './networks.js';
export {
  AUTHENTICATION_START,
  challengeNonce,
  encodeChargeRequest,
  encodePaymentReceipt,
  findPaymentCredential,
  parsePaymentCredential,
  renderAuthenticationEnd,
  withoutPaymentCredentials,
  type AuthenticationChallenge,
  type ChargeTerms,
  type PaymentCredential,
} from './mpp/payment-authentication.js';
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
} from './wire/payment-error.js';
export {
  IDEMPOTENCY_KEY,
  IDEMPOTENT_REPLAYED,
  PAYMENT_RECEIPT,
  PAYMENT_REQUIRED,
  PAYMENT_RESPONSE,
  PAYMENT_SIGNATURE,
  SIGN_IN_WITH_X,
  X_PAYMENT,
  X_PAYMENT_FAILURE,
  X_PAYMENT_RELEASED,
  X_PAYMENT_RESPONSE,
  X_SIGN_IN_FAILURE,
} from './wire/payment-headers.js';
export { parseRetryAfter } from './wire/retry-after.js';
export { instructsSharedCaches, keepPrivate } from './wire/shared-caches.js';
export { isPaymentIdentifier, PAYMENT_IDENTIFIER, PAYMENT_IDENTIFIER_EXTENSION } from './x402/payment-identifier.js';
export {
  assertAccepted,
  parsePaymentSignature,
  type OfferedOption,
  type PaymentSignature,
} from './x402/payment-signature.js';
export {
  hashPermit2Domain,
  hashPermit2Transfer,
  hashTokenDomain,
  hashTransferAuthorization,
} from './signed/signing-hashes.js';
export {
  encodeProof,
  MAX_PROOF_HEADER_BYTES,
  parseProof,
  proofMessage,
  type PaymentProof,
  parseProofOrSigned,
  type SignedProof,
} from './tx-hash/proof.js';
export {
  createReference,
  readReference,
  verifyReference,
  type HmacSha256,
  type ReferenceParts,
  type ReferenceTerms,
} from './tx-hash/reference.js';
export {
  createSignInMessage,
  createSignInOffer,
  MAX_SIGN_IN_HEADER_BYTES,
  parseSignIn,
  SIGN_IN_EXTENSION,
  SIGN_IN_FAILURES,
  signInReasonFor,
  type SignIn,
  type SignInFailure,
  type SignInTerms,
} from './x402/sign-in.js';
export {
  EXACT_PROXY_ADDRESS,
  MAX_SIGNATURE_BYTES,
  parseSignedPayment,
  payerOf,
  PERMIT2_ADDRESS,
  recipientOf,
  signedAmountOf,
  UPTO_PROXY_ADDRESS,
  type MeteredPermit2Authorization,
  type Permit2Authorization,
  type Permit2Transfer,
  type SignedAuthorization,
  type SignedPayment,
  type SignedPermit,
  type TransferAuthorization,
} from './signed/signed-payment.js';
export { formatTokenAmount, MAX_UINT256, parseTokenAmount } from './wire/token-amount.js';
export {
  AUTHORIZATION_TYPES,
  createAuthorizationTypedData,
  createPermit2TypedData,
  type TokenDomain,
  type TypedData,
  type TypedField,
} from './signed/typed-data.js';
export type {
  DiscoveredResource,
  DiscoveryResponse,
  SettleResponse,
  SupportedKind,
  SupportedResponse,
  VerifyResponse,
} from './x402/facilitator-messages.js';
export {
  DUPLICATE_SETTLEMENT,
  facilitatorReasonFor,
  INVALID_REQUIREMENTS,
  SETTLEMENT_EXCEEDS_AMOUNT,
  SETTLEMENT_PENDING,
  signedKindOf,
  type SignedKind,
} from './x402/facilitator-reasons.js';
export {
  parsePaymentPayload,
  type PaymentPayload,
  type PaymentPayloadV1,
  type PaymentPayloadV2,
} from './x402/payment-payload.js';
export {
  parseRequirementTerms,
  type PaymentRequiredV1,
  type PaymentRequiredV2,
  type RequirementTerms,
  type RequirementV1,
  type RequirementV2,
  type ResourceV2,
} from './x402/requirements.js';
