import { createHmac, timingSafeEqual } from 'node:crypto';

import { mayUseWallet, type ApiKey, type ApiKeyStore } from '@tollgate/common';
import { agentJobSigningText, type AgentJobMessage, type AgentJobRequest } from '@tollgate/protocol';

import { deriveEnqueueSecret } from './agent-secrets.js';
import { JobRequestError } from './job-request-error.js';
import { parseAgentJobMessage } from './parse-agent-job-message.js';
import { parseJobRequest } from './parse-job-request.js';

/** Clocks differ; a message from further ahead was made to live longer than it may. */
const MAX_CLOCK_SKEW_MS = 60_000;

/** Why a message is not carried out. None of these goes away by reading the message again. */
export type MessageRefusalCode =
  | 'message_malformed'
  | 'signature_wrong'
  | 'message_too_old'
  | 'message_from_the_future'
  | 'key_unknown'
  | 'key_revoked'
  | 'scope_missing'
  | 'wallet_not_allowed'
  | 'request_invalid';

export interface MessageRefusal {
  outcome: 'refused';
  code: MessageRefusalCode;
  /** One sentence, without values from the message. */
  detail: string;
  /** Of the API key, where the signature shows that the message is its holder's. */
  keyId: string | null;
}

/** A job that the holder of the key `keyId` asks for; idempotency keys are unique among the jobs of that key. */
export interface VerifiedMessage {
  outcome: 'verified';
  request: AgentJobRequest;
  idempotencyKey: string;
  keyId: string;
}

export interface VerifyMessageOptions {
  /** The setting `AGENT_SECRET`. */
  agentSecret: string;
  apiKeys: Pick<ApiKeyStore, 'read'>;
  nowMs: number;
  /** How long after it was issued a message is carried out; less than idempotency keys are remembered. */
  maxAgeMs: number;
}

/**
 * Whether a message from the queue of agent jobs is what it says. The signature comes before the questions that its
 * content and its key raise: a stranger learns nothing and costs no look-up.
 * @throws what the store of the API keys throws when it cannot be asked: the message is neither verified nor refused
 */
export async function verifyAgentJobMessage(
  value: unknown,
  options: VerifyMessageOptions,
): Promise<VerifiedMessage | MessageRefusal> {
  const message = parseAgentJobMessage(value);
  if ('faults' in message) {
    return refuse('message_malformed', `The message is malformed: ${message.faults.join(', ')}.`, null);
  }
  if (!isSigned(message, options.agentSecret)) {
    return refuse('signature_wrong', 'The signature is not one of the API key that the message names.', null);
  }
  const { keyId, idempotencyKey, operation, wallet, input } = message;
  const staleness = judgeAge(message, options) ?? judgeKey(await options.apiKeys.read(keyId), message);
  if (staleness) return staleness;
  try {
    return { outcome: 'verified', request: parseJobRequest({ operation, wallet, input }), idempotencyKey, keyId };
  } catch (error) {
    if (!(error instanceof JobRequestError)) throw error;
    return refuse('request_invalid', error.message, keyId);
  }
}

function isSigned(message: AgentJobMessage, agentSecret: string): boolean {
  const secret = deriveEnqueueSecret(agentSecret, message.keyId);
  const expected = createHmac('sha256', secret).update(agentJobSigningText(message)).digest();
  return timingSafeEqual(expected, Buffer.from(message.signature, 'base64url'));
}

function judgeAge({ issuedAt, keyId }: AgentJobMessage, options: VerifyMessageOptions): MessageRefusal | null {
  const ageMs = options.nowMs - Date.parse(issuedAt);
  if (ageMs > options.maxAgeMs) {
    return refuse('message_too_old', `The message is ${Math.round(ageMs / 1000)} seconds old.`, keyId);
  }
  if (ageMs >= -MAX_CLOCK_SKEW_MS) return null;
  return refuse('message_from_the_future', `The message is ${Math.round(-ageMs / 1000)} seconds early.`, keyId);
}

function judgeKey(key: ApiKey | null, { keyId, wallet }: AgentJobMessage): MessageRefusal | null {
  if (key === null) return refuse('key_unknown', 'There is no such API key.', keyId);
  if (key.revokedAtMs !== null) return refuse('key_revoked', 'The API key is revoked.', keyId);
  if (!key.scopes.includes('submit')) {
    return refuse('scope_missing', 'The API key has not the scope submit.', keyId);
  }
  if (mayUseWallet(key, wallet)) return null;
  return refuse('wallet_not_allowed', 'The API key may not use this wallet.', keyId);
}

function refuse(code: MessageRefusalCode, detail: string, keyId: string | null): MessageRefusal {
  return { outcome: 'refused', code, detail, keyId };
}
