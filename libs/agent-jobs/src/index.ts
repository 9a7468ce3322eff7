export { toAgentJobEvent } from './agent-job-event.js';
export { deriveEnqueueSecret, deriveWebhookSecret } from './agent-secrets.js';
export { checkTokens, type CheckedSubmission } from './check-tokens.js';
export { DeadLetters, type DeadLetter } from './dead-letters.js';
export { describeJob, type DescribeOptions } from './describe-job.js';
export { findTokenProblems } from './find-token-problems.js';
export { fingerprintOf } from './fingerprint.js';
export type { JsonSchema } from './inputs/field.js';
export { describeInputs } from './inputs/input-classes.js';
export { JobRequestError } from './job-request-error.js';
export type { KnownToken } from './known-token.js';
export { parseJobRequest } from './parse-job-request.js';
export { READ_MINED_NONCE, type ReadMinedNonceReply, type ReadMinedNonceRequest } from './mined-nonce.js';
export { PLAN_JOB, PLAN_QUEUE, type PlanJobReply, type PlanJobRequest } from './plan-job.js';
export { AGENT_JOBS_QUEUE, AGENT_QUEUE_PREFIX, wakeQueueOf, WEBHOOKS_QUEUE, type WakeUp } from './queues.js';
export { readStoredFloors, readStoredPlan, writeStoredPlan, type PlanFloors } from './stored-plan.js';
export {
  verifyAgentJobMessage,
  type MessageRefusal,
  type MessageRefusalCode,
  type VerifiedMessage,
  type VerifyMessageOptions,
} from './verify-agent-job-message.js';
export { WaitingDeliveries, type NamedDelivery } from './waiting-deliveries.js';
export { WakeQueues, type WakeQueuesOptions } from './wake-queues.js';
export { WalletDirectory, type WalletEntry } from './wallet-directory.js';
export { nameDelivery, openWebhooksQueue, type WebhookDelivery } from './webhook-delivery.js';
export { DISABLED_REASONS, type DisabledReason, type WebhookTarget } from './webhook-target.js';
export {
  WebhookTargets,
  type NewWebhookTarget,
  type RegisterResult,
  type TargetName,
  type WebhookTargetsOptions,
} from './webhook-targets.js';
