import { createHmac, timingSafeEqual } from 'node:crypto';

import { mayUseWallet, type ApiKey, type ApiKeyStore } from '@tollgate/http';
import {
  AGENT_JOB_MESSAGE_VERSION,
  agentJobSigningText,
  parseIdempotencyKey,
  type AgentJobMessage,
  type AgentJobRequest,
} from '@tollgate/protocol';
import { z } from 'zod';

import { JobRequestError, parseJobRequest } from '../request/parse-job-request.js';

/** Allows for differences between clocks. A message dated further ahead would be valid for longer than allowed. */
const MAX_CLOCK_SKEW_MS = 60_000;

/** Why a message is not carried out. Reading the message again does not help. */
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
  /** The id of the API key, if the signature proves that the message is from its holder. */
  keyId: string | null;
}

/** A job requested by the holder of the key `keyId`; idempotency keys are unique among the jobs of that key. */
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
  /** How long after it was issued a message is accepted; shorter than idempotency keys are remembered. */
  maxAgeMs: number;
}

/**
 * Authenticates a message from the queue of agent jobs. The signature is checked before the content and the key, so
 * that an unauthenticated sender learns nothing and causes no look-up.
 * @throws the error of the API-key store when it cannot be read: the message is then neither verified nor refused
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
    return refuse('signature_wrong', 'The signature does not match the API key in the message.', null);
  }
  const { keyId, operation, wallet, input } = message;
  const idempotencyKey = parseIdempotencyKey(message.idempotencyKey) ?? message.idempotencyKey;
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
  return refuse(
    'message_from_the_future',
    `The message is dated ${Math.round(-ageMs / 1000)} seconds in the future.`,
    keyId,
  );
}

function judgeKey(key: ApiKey | null, { keyId, wallet }: AgentJobMessage): MessageRefusal | null {
  if (key === null) return refuse('key_unknown', 'There is no such API key.', keyId);
  if (key.revokedAtMs !== null) return refuse('key_revoked', 'The API key is revoked.', keyId);
  if (!key.scopes.includes('submit')) {
    return refuse('scope_missing', 'The API key does not have the scope submit.', keyId);
  }
  if (mayUseWallet(key, wallet)) return null;
  return refuse('wallet_not_allowed', 'The API key may not use this wallet.', keyId);
}

function refuse(code: MessageRefusalCode, detail: string, keyId: string | null): MessageRefusal {
  return { outcome: 'refused', code, detail, keyId };
}

/**
 * The secret with which a service signs the jobs it puts directly into the queue. It is derived, so that Redis stores
 * no signing secret; the key's holder gets it from `npm run keys`.
 * @param agentSecret the setting `AGENT_SECRET`
 */
export function deriveEnqueueSecret(agentSecret: string, keyId: string): string {
  return createHmac('sha256', agentSecret).update(`tollgate.enqueue:${keyId}`).digest('base64url');
}

/** Exactly these fields: a message with a field that is not signed or not known may not be what its sender meant. */
const agentJobMessage = z.strictObject({
  version: z.literal(AGENT_JOB_MESSAGE_VERSION),
  operation: z.string().regex(/^\w{1,64}$/),
  // No operation has a nested input, so the signed text cannot be made to grow or to overflow the stack.
  input: z.custom<AgentJobMessage['input']>(isFlatObject),
  wallet: z.string().regex(/^[\w.-]{1,64}$/),
  // The value of the `Idempotency-Key` header.
  idempotencyKey: z.string().refine((value) => parseIdempotencyKey(value) !== null),
  keyId: z.string().regex(/^[a-z0-9]{1,64}$/),
  issuedAt: z
    .string()
    .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/)
    .refine((value) => !Number.isNaN(Date.parse(value))),
  signature: z.string().regex(/^[\w-]{43}$/),
}) satisfies z.ZodType<AgentJobMessage>;

/**
 * Returns the message, or the names of the fields that are invalid, missing or unknown. Nothing in it is authenticated
 * yet.
 */
function parseAgentJobMessage(value: unknown): AgentJobMessage | { faults: string[] } {
  if (typeof value !== 'object' || value === null) return { faults: ['the message is not an object'] };
  const { data, error } = agentJobMessage.safeParse({ ...value });
  if (data !== undefined) return data;
  const wrong = new Set(error.issues.flatMap(({ path }) => path.map(String)));
  return { faults: wrong.size > 0 ? [...wrong] : ['unknown fields'] };
}

function isFlatObject(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const members = Object.values(value) as unknown[];
  return members.length <= 100 && members.every((one) => typeof one !== 'object' || one === null);
}
