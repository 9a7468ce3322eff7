export { deriveEnqueueSecret, deriveWebhookSecret } from './agent-secrets.js';
export { describeJob, type DescribeOptions } from './describe-job.js';
export { fingerprintOf } from './fingerprint.js';
export { PLAN_JOB, PLAN_QUEUE, type PlanJobReply, type PlanJobRequest } from './plan-job.js';
export { AGENT_JOBS_QUEUE, AGENT_QUEUE_PREFIX, wakeQueueOf, WEBHOOKS_QUEUE, type WakeUp } from './queues.js';
export { readStoredPlan, writeStoredPlan } from './stored-plan.js';
export { WakeQueues, type WakeQueuesOptions } from './wake-queues.js';
export { WalletDirectory, type WalletEntry } from './wallet-directory.js';
