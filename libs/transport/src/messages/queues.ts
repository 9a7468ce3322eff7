import { AGENT_JOBS_QUEUE } from '@tollgate/protocol';

/** The queue that gateways put their questions into, for any verifier. */
export const VERIFY_QUEUE = 'verify';
/** The queue that gateways put settlements into. Only verifiers with a relayer's lane serve it. */
export const SETTLE_QUEUE = 'settle';
/** The queue between gateways and workers; a dry run has the wallet's name as routing key. */
export const PLAN_QUEUE = 'plan';

/** Every BullMQ queue, with what its jobs hold and return. */
export interface QueueJobs {
  /** Jobs that other services enqueue directly: untrusted until their signature is verified. */
  [AGENT_JOBS_QUEUE]: { data: unknown; result: { jobId: string; outcome: 'accepted' | 'known' } };
  /** Wake-ups for the jobs of one lane; only the process that holds the lane takes them. */
  [wakeQueue: `agent-wake-${string}`]: { data: WakeUp; result: void };
}

/** The job itself is in the journal. */
export interface WakeUp {
  jobId: string;
}
