import { AGENT_JOBS_QUEUE, type AgentJob, type AgentJobMessage } from '@tollgate/protocol';

import { signAgentJobMessage, type EnqueueKey } from './sign-agent-job-message.js';

/** BullMQ's options of a job, as far as they are set here. */
export interface EnqueueOptions {
  jobId: string;
  attempts: number;
  backoff: { type: 'exponential'; delay: number };
  removeOnComplete: { age: number; count: number };
  removeOnFail: { age: number; count: number };
}

/** As much of a BullMQ queue as is needed: `new Queue(AGENT_JOBS_QUEUE, { connection, prefix: AGENT_QUEUE_PREFIX })`. */
export interface AgentJobsQueue {
  add(name: string, data: AgentJobMessage, options: EnqueueOptions): Promise<unknown>;
}

export interface EnqueuedJob {
  idempotencyKey: string;
  /** Of the queue, not of the job: that gets its own id when a worker journals it. */
  queueJobId: string;
}

const DAY_SECONDS = 86_400;

/**
 * Puts a job into the queue of the agent workers without asking the gateway. Resolves when the queue has it; the same job
 * enqueued again under its idempotency key is carried out once, another one under that key not at all. What became of
 * it is told by its events.
 * @throws TypeError for an idempotency key that is not 1 to 255 visible ASCII characters, and without `keyId` or `secret`; what
 * the queue throws
 */
export async function enqueueAgentJob(
  queue: AgentJobsQueue,
  job: AgentJob,
  { idempotencyKey, ...key }: EnqueueKey & { idempotencyKey: string },
): Promise<EnqueuedJob> {
  if (typeof idempotencyKey !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(idempotencyKey)) {
    throw new TypeError('idempotencyKey must be 1 to 255 visible ASCII characters');
  }
  if (typeof key.keyId !== 'string' || key.keyId === '') throw new TypeError('keyId is missing, or no text');
  const message = await signAgentJobMessage(job, { ...key, idempotencyKey, issuedAtMs: Date.now() });
  // Of the message and not of the idempotency key alone: BullMQ drops a known id silently, and with it a second attempt
  // after a failed one, or a conflict. What is twice in the queue is once in the journal.
  const queueJobId = `job-${message.signature}`;
  await queue.add(AGENT_JOBS_QUEUE, message, {
    jobId: queueJobId,
    // For outages of the journal: some half an hour, within which a message is not yet too old.
    attempts: 12,
    backoff: { type: 'exponential', delay: 1_000 },
    removeOnComplete: { age: DAY_SECONDS, count: 10_000 },
    // What was refused, or could not be journaled, stays for who looks after the queue.
    removeOnFail: { age: 7 * DAY_SECONDS, count: 10_000 },
  });
  return { idempotencyKey, queueJobId };
}
