import { createHmac } from 'node:crypto';

/**
 * The secret with which a service signs the jobs it puts directly into the queue. It is derived, so that Redis stores
 * no signing secret; the key's holder gets it from `npm run keys`.
 * @param agentSecret the setting `AGENT_SECRET`
 */
export function deriveEnqueueSecret(agentSecret: string, keyId: string): string {
  return derive(agentSecret, `enqueue:${keyId}`);
}

/**
 * The secret with which the events for a webhook target are signed. The target's owner gets it once, in the answer to
 * the registration.
 */
export function deriveWebhookSecret(agentSecret: string, targetId: string): string {
  return derive(agentSecret, `webhook:${targetId}`);
}

function derive(agentSecret: string, name: string): string {
  return createHmac('sha256', agentSecret).update(`tollgate.${name}`).digest('base64url');
}
