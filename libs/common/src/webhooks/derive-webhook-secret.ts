import { createHmac } from 'node:crypto';

/**
 * The secret with which the events for a webhook target are signed. The target's owner gets it once, in the answer to
 * the registration. It is derived, so that what stores the target holds nothing to sign with.
 * @param secret a secret of this service, from its settings
 */
export function deriveWebhookSecret(secret: string, targetId: string): string {
  return createHmac('sha256', secret).update(`tollgate.webhook:${targetId}`).digest('base64url');
}
