import type { AgentJobEvent, AgentOperation, JobEventType } from '@tollgate/protocol';

import type { GatewayConnection } from './gateway-connection.js';

export interface NewWebhook {
  /** Https, and reachable from the internet. */
  url: string;
  /** Left out: all. */
  events?: readonly JobEventType[];
  operations?: readonly AgentOperation[];
}

export interface Webhook {
  id: string;
  /** Of the API key that registered it. */
  keyId: string;
  url: string;
  /** None: all. */
  events: readonly JobEventType[];
  operations: readonly AgentOperation[];
  /** ISO 8601, UTC. */
  createdAt: string;
  /** Why it gets nothing; null: it does. */
  disabled: 'by_owner' | 'gone' | 'key_revoked' | null;
}

/** A delivery that was given up. */
export interface DeadLetter {
  id: string;
  keyId: string;
  webhookId: string;
  attempts: number;
  failedAt: string;
  reason: string;
  event: AgentJobEvent;
}

/** Where events are posted to. */
export class WebhooksClient {
  constructor(private readonly connection: GatewayConnection) {}

  /** `secret` is shown this once: `verifyWebhook` needs it. Not repeated by itself, or there might be two. */
  async register(webhook: NewWebhook): Promise<Webhook & { secret: string }> {
    const request = { method: 'POST', path: '/agent/webhooks', body: webhook, once: true } as const;
    return (await this.connection.send(request)).body as Webhook & { secret: string };
  }

  /** The key's own, or those of all keys for an operator. */
  async list(): Promise<readonly Webhook[]> {
    const { body } = await this.connection.send({ method: 'GET', path: '/agent/webhooks' });
    return (body as { webhooks: readonly Webhook[] }).webhooks;
  }

  async remove(webhookId: string): Promise<void> {
    await this.connection.send({ method: 'DELETE', path: `/agent/webhooks/${encodeURIComponent(webhookId)}` });
  }

  /** It gets what happens from now on. */
  async enable(webhookId: string): Promise<Webhook> {
    const path = `/agent/webhooks/${encodeURIComponent(webhookId)}/enable`;
    return (await this.connection.send({ method: 'POST', path })).body as Webhook;
  }

  /** Deliveries that were given up, newest first. */
  async listDeadLetters({ limit }: { limit?: number } = {}): Promise<readonly DeadLetter[]> {
    const query = { limit: limit?.toString() };
    const { body } = await this.connection.send({ method: 'GET', path: '/agent/webhooks/dead-letters', query });
    return (body as { deadLetters: readonly DeadLetter[] }).deadLetters;
  }

  async resend(deadLetterId: string): Promise<void> {
    const path = `/agent/webhooks/dead-letters/${encodeURIComponent(deadLetterId)}/resend`;
    await this.connection.send({ method: 'POST', path });
  }
}
