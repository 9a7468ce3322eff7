import { AGENT_JOBS_QUEUE } from '@tollgate/protocol';

/** The kind of queue that gateways put their questions into, for any verifier of a chain. */
export const VERIFY_QUEUE = 'verify';
/** The kind of queue that gateways put settlements into. Only verifiers with a relayer's lane serve it. */
export const SETTLE_QUEUE = 'settle';

/**
 * The queue of a chain: questions that wait for one chain hold up no other chain's. Only for a chain of the settings: an
 * id from outside must not make a key.
 */
export function queueOfChain(kind: typeof VERIFY_QUEUE | typeof SETTLE_QUEUE, chainId: number): string {
  return `${kind}-${chainId}`;
}

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
