export { NestPublisher } from './nest-publisher.js';
export { COMPARE_SETTINGS, isSettingsDiffer } from './messages/compare-settings.js';
export type { ComparedQuestion, SettingsComparison, SettingsDiffer } from './messages/compare-settings.js';
export * from './messages/messages.js';
export { PLAN_JOB, type PlanJobReply, type PlanJobRequest } from './messages/plan-job.js';
export * from './messages/queues.js';
export { READ_MINED_NONCE, type ReadMinedNonceReply, type ReadMinedNonceRequest } from './messages/read-mined-nonce.js';
export { SETTLE_SIGNED_PAYMENT } from './messages/settle-signed-payment.js';
export type { SettlementResult, SettleSignedPaymentRequest } from './messages/settle-signed-payment.js';
export { VERIFY_CONTRACT_SIGNATURE } from './messages/verify-contract-signature.js';
export type { ContractSignatureVerdict, VerifyContractSignatureRequest } from './messages/verify-contract-signature.js';
export { VERIFY_LOCK, type LockVerdict, type VerifyLockRequest } from './messages/verify-lock.js';
export { VERIFY_PAYMENT, type VerifyPaymentRequest, type VerifyPaymentVerdict } from './messages/verify-payment.js';
export { VERIFY_SIGNED_PAYMENT } from './messages/verify-signed-payment.js';
export type {
  EarlierSettlement,
  PaymentSimulation,
  SignedPaymentTerms,
  SignedPaymentVerdict,
  VerifySignedPaymentRequest,
} from './messages/verify-signed-payment.js';
export { BoundServer } from './request-reply/bound-server.js';
export { createQueueKeys } from './request-reply/envelope.js';
export { RequestReplyClient, type AskOptions } from './request-reply/request-reply-client.js';
export { RequestReplyContext } from './request-reply/request-reply-context.js';
export { NoReplyError, QueueFullError, RequestFailedError } from './request-reply/request-reply-error.js';
export { RequestReplyServer } from './request-reply/request-reply-server.js';
