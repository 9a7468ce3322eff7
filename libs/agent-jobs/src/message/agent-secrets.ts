import { createHmac } from 'node:crypto';

/**
 * The secret with which a service signs the jobs it puts directly into the queue. It is derived, so that Redis stores
 * no signing secret; the key's holder gets it from `npm run keys`.
 * @param agentSecret the setting `AGENT_SECRET`
 */
export function deriveEnqueueSecret(agentSecret: string, keyId: string): string {
  return createHmac('sha256', agentSecret).update(`tollgate.enqueue:${keyId}`).digest('base64url');
}
