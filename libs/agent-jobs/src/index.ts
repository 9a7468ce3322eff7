export { problemOfRefusal, JOB_NOT_FOUND, refuseState } from './decisions/problem-of-refusal.js';
export { RETRIED_STATES, retryJob, type RetryRefusal } from './decisions/retry-job.js';
export { fingerprintOfJob } from './request/fingerprint.js';
export {
  isRefundOf,
  nameRefund,
  nameRefundJob,
  readRefundJob,
  REFUNDS_WALLET,
  type RefundJobInput,
} from './refunds/refund-job.js';
export { describeInputs } from './request/job-inputs.js';
export { JobRequestError } from './request/job-request-error.js';
export { parseJobRequest } from './request/parse-job-request.js';
export { deriveEnqueueSecret } from './message/agent-secrets.js';
export {
  verifyAgentJobMessage,
  type MessageRefusalCode,
  type VerifiedMessage,
} from './message/verify-agent-job-message.js';
export { listAccounts, type Account, type AccountSources } from './wallets/list-accounts.js';
export { checkTokens } from './wallets/wallet-directory.js';
export { findTokenProblems } from './wallets/wallet-directory.js';
export type { KnownToken } from './wallets/wallet-directory.js';
export { WalletDirectory, type WalletEntry, type WalletLimit } from './wallets/wallet-directory.js';
export { AGENT_JOBS_QUEUE, AGENT_QUEUE_PREFIX, openQueue, serveQueue, wakeQueueOf } from './queues/queues.js';
export { WakeQueues } from './queues/wake-queues.js';
export { toAgentJobEvent } from './views/agent-job-event.js';
export { digestPlan, listCalls, type PlannedCall } from './views/digest-plan.js';
export { describeJob } from './views/describe-job.js';
export { readStoredFloors, readStoredPlan, writeStoredPlan, type PlanFloors } from './views/stored-plan.js';
export { DeadLetters, type FailedDelivery } from './webhooks/dead-letters.js';
export { WaitingDeliveries } from './webhooks/waiting-deliveries.js';
export { nameDelivery, openWebhooksQueue } from './webhooks/webhook-delivery.js';
export { DISABLED_REASONS, type WebhookTarget } from './webhooks/webhook-target.js';
export { WebhookTargets } from './webhooks/webhook-targets.js';
