import {
  AGENT_JOB_MESSAGE_VERSION,
  AGENT_JOBS_QUEUE,
  agentJobSigningText,
  encodeBase64Url,
  parseIdempotencyKey,
  type AgentJob,
  type AgentJobMessage,
} from '@tollgate/protocol';

import { hmacSha256 } from './hmac.js';

/** The BullMQ job options that are used here. */
export interface EnqueueOptions {
  jobId: string;
  attempts: number;
  backoff: { type: 'exponential'; delay: number };
  removeOnComplete: { age: number; count: number };
  removeOnFail: { age: number; count: number };
}

/**
 * The part of a BullMQ queue that is needed: `new Queue(AGENT_JOBS_QUEUE, { connection, prefix: AGENT_QUEUE_PREFIX })`.
 */
export interface AgentJobsQueue {
  add(name: string, data: AgentJobMessage, options: EnqueueOptions): Promise<unknown>;
}

export interface EnqueuedJob {
  idempotencyKey: string;
  /** The id of the queue's message. The job gets its own id when a worker journals it. */
  queueJobId: string;
}

const DAY_SECONDS = 86_400;

/**
 * Puts a job into the queue of the agent workers, bypassing the gateway. Resolves when the queue has it. The same job
 * enqueued again under its idempotency key is carried out once, a different job under that key never. Its outcome is
 * reported by its events.
 * @throws TypeError for an idempotency key that is not 1 to 255 visible ASCII characters, and without `keyId` or
 * `secret`; any error of the queue
 */
export async function enqueueAgentJob(
  queue: AgentJobsQueue,
  job: AgentJob,
  { idempotencyKey, ...key }: EnqueueKey & { idempotencyKey: string },
): Promise<EnqueuedJob> {
  if (typeof idempotencyKey !== 'string' || parseIdempotencyKey(idempotencyKey) === null) {
    throw new TypeError('idempotencyKey must be 1 to 255 visible ASCII characters');
  }
  if (typeof key.keyId !== 'string' || key.keyId === '') throw new TypeError('keyId is missing or not a string');
  const message = await signAgentJobMessage(job, { ...key, idempotencyKey, issuedAtMs: Date.now() });
  // The id depends on the whole message, not on the idempotency key alone: BullMQ silently drops a known id, and with
  // it a second attempt
  const queueJobId = `job-${message.signature}`;
  await queue.add(AGENT_JOBS_QUEUE, message, {
    jobId: queueJobId,
    // Covers outages of the journal for about half an hour, after which a message may be too old.
    attempts: 12,
    backoff: { type: 'exponential', delay: 1_000 },
    removeOnComplete: { age: DAY_SECONDS, count: 10_000 },
    // Refused messages, and those that could not be journaled, stay in the queue for its operator.
    removeOnFail: { age: 7 * DAY_SECONDS, count: 10_000 },
  });
  return { idempotencyKey, queueJobId };
}

/** The id of an API key with the scope `submit`, and its enqueue secret; `npm run keys` prints both. */
export interface EnqueueKey {
  keyId: string;
  secret: string;
}

/** Signs a job as a message that agent workers carry out, unless it is too old when they receive it. */
export async function signAgentJobMessage(
  { operation, wallet, input }: AgentJob,
  { keyId, secret, idempotencyKey, issuedAtMs }: EnqueueKey & { idempotencyKey: string; issuedAtMs: number },
): Promise<AgentJobMessage> {
  const message: AgentJobMessage = {
    version: AGENT_JOB_MESSAGE_VERSION,
    operation,
    // Without undefined fields, which the queue drops too.
    input: JSON.parse(JSON.stringify(input)) as AgentJobMessage['input'],
    wallet,
    idempotencyKey,
    keyId,
    issuedAt: new Date(issuedAtMs).toISOString(),
    signature: '',
  };
  return { ...message, signature: encodeBase64Url(await hmacSha256(secret, agentJobSigningText(message))) };
}
