import type { AgentJobEvent, AgentOperation, JobEventType } from '@tollgate/protocol';

import type { GatewayConnection } from './gateway-connection.js';

export interface NewWebhook {
  /** An https URL that is reachable from the internet. */
  url: string;
  /** If omitted: all. */
  events?: readonly JobEventType[];
  operations?: readonly AgentOperation[];
}

export interface Webhook {
  id: string;
  /** The API key that registered it. */
  keyId: string;
  url: string;
  /** Null: all. */
  events: readonly JobEventType[];
  operations: readonly AgentOperation[];
  /** ISO 8601, UTC. */
  createdAt: string;
  /** Why it receives no events; null: it does. */
  disabled: 'by_owner' | 'gone' | 'key_revoked' | null;
}

/** A delivery that failed for good. */
export interface DeadLetter {
  id: string;
  keyId: string;
  webhookId: string;
  attempts: number;
  failedAt: string;
  reason: string;
  event: AgentJobEvent;
}

/** Manages the addresses to which events are posted. */
export class WebhooksClient {
  constructor(private readonly connection: GatewayConnection) {}

  /**
   * `secret` is returned only this once; `verifyWebhook` needs it. This request is not repeated automatically, because
   * that could create two targets.
   */
  async register(webhook: NewWebhook): Promise<Webhook & { secret: string }> {
    const request = { method: 'POST', path: '/agent/webhooks', body: webhook, once: true } as const;
    return (await this.connection.send(request)).body as Webhook & { secret: string };
  }

  /** The API key's own targets, or those of all keys for an operator. */
  async list(): Promise<readonly Webhook[]> {
    const { body } = await this.connection.send({ method: 'GET', path: '/agent/webhooks' });
    return (body as { webhooks: readonly Webhook[] }).webhooks;
  }

  async remove(webhookId: string): Promise<void> {
    await this.connection.send({ method: 'DELETE', path: `/agent/webhooks/${encodeURIComponent(webhookId)}` });
  }

  /** The target receives events from now on. */
  async enable(webhookId: string): Promise<Webhook> {
    const path = `/agent/webhooks/${encodeURIComponent(webhookId)}/enable`;
    return (await this.connection.send({ method: 'POST', path })).body as Webhook;
  }

  /** Deliveries that failed for good, newest first. */
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
