import {
  AGENT_JOB_MESSAGE_VERSION,
  agentJobSigningText,
  type AgentJob,
  type AgentJobMessage,
} from '@tollgate/protocol';

import { hmacSha256 } from './hmac.js';

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
  return { ...message, signature: toBase64Url(await hmacSha256(secret, agentJobSigningText(message))) };
}

function toBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');
}
