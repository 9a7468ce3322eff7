import { AGENT_JOBS_QUEUE, type AgentJobEvent } from '@tollgate/protocol';

/** Deliveries of events to webhook targets. Deliveries that failed for good stay in it as dead letters. */
export const WEBHOOKS_QUEUE = 'agent-webhooks';

/** Every BullMQ queue, with what its jobs hold and return. */
export interface QueueJobs {
  /** Jobs that other services enqueue directly: untrusted until their signature is verified. */
  [AGENT_JOBS_QUEUE]: { data: unknown; result: { jobId: string; outcome: 'accepted' | 'known' } };
  [WEBHOOKS_QUEUE]: { data: WebhookDelivery; result: DeliveryOutcome };
  /** Wake-ups for the jobs of one lane; only the process that holds the lane takes them. */
  [wakeQueue: `agent-wake-${string}`]: { data: WakeUp; result: void };
}

/** The job itself is in the journal. */
export interface WakeUp {
  jobId: string;
}

/** One event for one target, as stored in the queue, without the target's address and secret. */
export interface WebhookDelivery {
  keyId: string;
  targetId: string;
  event: AgentJobEvent;
}

/**
 * `dropped`: the target is removed or disabled, or its key is revoked. `crowded_out`: too many events waited for it.
 */
export type DeliveryOutcome = 'delivered' | 'dropped' | 'crowded_out' | 'gone' | 'failed' | 'dead';
