import { createHmac } from 'node:crypto';

/**
 * Under which a service signs the jobs it enqueues itself. Derived, so that Redis holds nothing to sign with; who may know
 * it gets it from `npm run keys`.
 * @param agentSecret the setting `AGENT_SECRET`
 */
export function deriveEnqueueSecret(agentSecret: string, keyId: string): string {
  return derive(agentSecret, `enqueue:${keyId}`);
}

/** Under which the events for a webhook target are signed; its owner gets it once, in the answer to the registration. */
export function deriveWebhookSecret(agentSecret: string, targetId: string): string {
  return derive(agentSecret, `webhook:${targetId}`);
}

function derive(agentSecret: string, name: string): string {
  return createHmac('sha256', agentSecret).update(`tollgate.${name}`).digest('base64url');
}
