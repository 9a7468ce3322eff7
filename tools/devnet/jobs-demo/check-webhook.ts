import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { createJobsClient } from '@tollgate/client/jobs';
import type { AgentJobEvent } from '@tollgate/protocol';

import type { WebhookDelivery, WebhookTarget } from '../stack/webhook-target.js';

const DELIVERED_WITHIN_MS = 30_000;
const SHOWN_HEADERS = ['Tollgate-Event-Id', 'Tollgate-Timestamp', 'Tollgate-Signature'] as const;

/** Registers a target and returns the secret that signs its deliveries, which is shown only once. */
export async function registerWebhook(baseUrl: string, token: string, url: string): Promise<string> {
  return (await createJobsClient({ baseUrl, apiKey: token }).webhooks.register({ url })).secret;
}

/** Waits until every event has been posted. Throws if one does not arrive, or has a wrong signature. */
export async function assertDelivered(
  secret: string,
  { taken }: WebhookTarget,
  events: readonly AgentJobEvent[],
): Promise<void> {
  const giveUpMs = Date.now() + DELIVERED_WITHIN_MS;
  const findMissing = () => {
    const ids = new Set(taken.map(({ body }) => (JSON.parse(body) as AgentJobEvent).id));
    return events.filter(({ id }) => !ids.has(id));
  };
  while (findMissing().length > 0) {
    if (Date.now() > giveUpMs) throw new Error(`no webhook came for ${findMissing()[0]?.id}`);
    await sleep(20);
  }
  const forged = taken.find((delivery) => !isSigned(secret, delivery));
  if (forged) throw new Error(`a webhook came with a wrong signature: ${forged.body}`);
}

/** Checks a delivery as a receiver does: HMAC-SHA-256 over the timestamp and the unparsed body. */
export function isSigned(secret: string, { headers, body }: WebhookDelivery): boolean {
  const timestamp = String(headers['tollgate-timestamp']);
  const expected = `v1=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;
  return headers['tollgate-signature'] === expected;
}

export function showDelivery({ headers, body }: WebhookDelivery): void {
  console.log('    > POST /events');
  for (const name of SHOWN_HEADERS) console.log(`    > ${name}: ${String(headers[name.toLowerCase()])}`);
  console.log(`    ${body}`);
}
