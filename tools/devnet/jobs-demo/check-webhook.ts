import { setTimeout as sleep } from 'node:timers/promises';

import { createJobsClient, verifyWebhookSignature } from '@tollgate/client/jobs';
import type { AgentJobEvent } from '@tollgate/protocol';

import type { WebhookDelivery, WebhookTarget } from '../stack/webhook-target.js';

const DELIVERED_WITHIN_MS = 30_000;
const SHOWN_HEADERS = ['Tollgate-Event-Id', 'Tollgate-Timestamp', 'Tollgate-Signature'] as const;

/** Registers a target and returns the secret that signs its deliveries, which is shown only once. */
export async function registerWebhook(baseUrl: string, token: string, url: string): Promise<string> {
  return (await createJobsClient({ baseUrl, apiKey: token }).webhooks.register({ url })).secret;
}

/** Waits until every event has been posted. Throws if one does not arrive, or is not signed with the secret. */
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
  for (const { headers, body } of taken) await verifyWebhookSignature(headers, body, secret);
}

export function showDelivery({ headers, body }: WebhookDelivery): void {
  console.log('    > POST /events');
  for (const name of SHOWN_HEADERS) console.log(`    > ${name}: ${String(headers[name.toLowerCase()])}`);
  console.log(`    ${body}`);
}
