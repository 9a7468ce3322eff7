import { canonicalJson } from '../wire/canonical-json.js';

/** The version of the messages that services put into the queue of agent jobs. */
export const AGENT_JOB_MESSAGE_VERSION = 1;

/** The BullMQ queue that takes jobs from other services, and its prefix. */
export const AGENT_JOBS_QUEUE = 'agent-jobs';
export const AGENT_QUEUE_PREFIX = 'tollgate:{agent}';

/** A job that another service puts into the queue directly. */
export interface AgentJobMessage {
  version: typeof AGENT_JOB_MESSAGE_VERSION;
  operation: string;
  input: Readonly<Record<string, unknown>>;
  wallet: string;
  idempotencyKey: string;
  /** The API key on whose behalf the job is submitted. */
  keyId: string;
  /** ISO 8601, UTC; the worker refuses messages older than its limit. */
  issuedAt: string;
  /** HMAC-SHA-256 of `agentJobSigningText` under the key's enqueue secret, base64url. */
  signature: string;
}

/** The text that is signed: all fields but the signature, as canonical JSON. */
export function agentJobSigningText({ signature: _, ...signed }: AgentJobMessage): string {
  return canonicalJson(signed);
}
