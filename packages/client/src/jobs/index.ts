export { AGENT_JOBS_QUEUE, AGENT_QUEUE_PREFIX } from '@tollgate/protocol';
export type {
  AgentJob,
  AgentJobEvent,
  AgentJobInputs,
  AgentJobOf,
  AgentJobView,
  AgentOperation,
  AgentPlanView,
  JobEventType,
  JobState,
} from '@tollgate/protocol';
export { AgentJobsError } from './agent-jobs-error.js';
export * from './enqueue-agent-job.js';
export type { EventOptions, FollowedEvent } from './follow-events.js';
export type { GatewayOptions } from './gateway-connection.js';
export {
  createJobsClient,
  type JobsClient,
  type ListOptions,
  type SubmitOptions,
  type SubmittedJob,
  type WaitOptions,
} from './jobs-client.js';
export * from './verify-webhook.js';
export type { DeadLetter, NewWebhook, Webhook, WebhooksClient } from './webhooks-client.js';
