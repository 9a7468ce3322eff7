import { Inject, Injectable } from '@nestjs/common';
import type { FailedDelivery, WebhookTarget } from '@tollgate/agent-jobs';
import { deriveWebhookSecret, ProblemError, type ApiKey, type Problem, onlyFields } from '@tollgate/common';
import { type AgentJobEvent, AGENT_OPERATIONS, EVENT_TYPES } from '@tollgate/protocol';
import { z } from 'zod';

import { GatewayEnvironment } from '../../config/gateway.config.js';
import { isOperator } from '../access/caller.js';
import { AgentConnections } from '../shared/agent-connections.js';

/** A target as its owner sees it; an empty list means all. */
export interface WebhookView extends WebhookRegistration {
  readonly id: string;
  readonly keyId: string;
  readonly createdAt: string;
  /** Why the target is disabled; null while it receives events. */
  readonly disabled: WebhookTarget['disabled'];
}

/** The secret is shown only once, when the target is registered. */
export interface NewWebhookView extends WebhookView {
  readonly secret: string;
}

export interface DeadLetterView {
  readonly id: string;
  readonly keyId: string;
  readonly webhookId: string;
  readonly attempts: number;
  readonly failedAt: string;
  readonly reason: string;
  readonly event: AgentJobEvent;
}

const NOT_FOUND: Problem = {
  status: 404,
  code: 'webhook_not_found',
  detail: 'There is no such webhook target or dead letter, or it belongs to another API key.',
};
const NO_SECRET: Problem = {
  status: 503,
  code: 'agent_secret_missing',
  detail: 'Webhooks are not enabled: the operator must set AGENT_SECRET.',
};

/** Manages the webhook targets: an API key its own, an operator all. */
@Injectable()
export class WebhookRegistry {
  constructor(
    @Inject(AgentConnections) private readonly connections: AgentConnections,
    @Inject(GatewayEnvironment) private readonly environment: GatewayEnvironment,
  ) {}

  /** @throws ProblemError if the URL is not allowed or the key has too many targets */
  async register(caller: ApiKey, registration: WebhookRegistration): Promise<NewWebhookView> {
    const { agentSecret } = this.environment.agentJobs;
    if (agentSecret === undefined) throw new ProblemError(NO_SECRET);
    const { webhookTargets } = this.connections;
    const result = await this.connections.within(webhookTargets.register({ keyId: caller.id, ...registration }));
    switch (result.outcome) {
      case 'registered':
        return { ...describeTarget(result.target), secret: deriveWebhookSecret(agentSecret, result.target.id) };
      case 'refused':
        throw new ProblemError({ status: 422, code: 'webhook_target_refused', detail: result.reason });
      case 'full': {
        const detail = `This API key has reached its limit of ${result.limit} webhook targets. Remove one first.`;
        throw new ProblemError({ status: 409, code: 'too_many_webhooks', detail });
      }
    }
  }

  async list(caller: ApiKey): Promise<WebhookView[]> {
    return (await this.#readAll(caller)).map(describeTarget);
  }

  /** @throws ProblemError if there is no such target; the methods below do the same */
  async read(caller: ApiKey, id: string): Promise<WebhookView> {
    return describeTarget(await this.#find(caller, id));
  }

  /** The target receives only events from now on. */
  async enable(caller: ApiKey, id: string): Promise<WebhookView> {
    const target = await this.#find(caller, id);
    const enabled = await this.connections.within(this.connections.webhookTargets.enable(target));
    if (enabled === null) throw new ProblemError(NOT_FOUND);
    return describeTarget(enabled);
  }

  async remove(caller: ApiKey, id: string): Promise<void> {
    const target = await this.#find(caller, id);
    await this.connections.within(this.connections.webhookTargets.remove(target));
  }

  async listDeadLetters(caller: ApiKey, limit: number): Promise<DeadLetterView[]> {
    const letters = this.connections.deadLetters.list({ keyId: scopeOf(caller), limit });
    return (await this.connections.within(letters)).map(describeLetter);
  }

  async resend(caller: ApiKey, id: string): Promise<void> {
    const isResent = await this.connections.within(this.connections.deadLetters.resend(id, { keyId: scopeOf(caller) }));
    if (!isResent) throw new ProblemError(NOT_FOUND);
  }

  async #find(caller: ApiKey, id: string): Promise<WebhookTarget> {
    const found = (await this.#readAll(caller)).find((target) => target.id === id);
    if (found === undefined) throw new ProblemError(NOT_FOUND);
    return found;
  }

  #readAll(caller: ApiKey): Promise<WebhookTarget[]> {
    return this.connections.within(this.connections.webhookTargets.list(scopeOf(caller)));
  }
}

/** Undefined stands for all keys. */
function scopeOf(caller: ApiKey): string | undefined {
  return isOperator(caller) ? undefined : caller.id;
}

function describeTarget({ id, keyId, url, events, operations, createdAtMs, disabled }: WebhookTarget): WebhookView {
  return { id, keyId, url, events, operations, createdAt: new Date(createdAtMs).toISOString(), disabled };
}

function describeLetter({ id, keyId, targetId, attempts, failedAtMs, reason, event }: FailedDelivery): DeadLetterView {
  return { id, keyId, webhookId: targetId, attempts, failedAt: new Date(failedAtMs).toISOString(), reason, event };
}

const URL_MISSING = 'must be the URL to which events are posted';

/** Empty lists: all. Which URLs are allowed is decided when the target is registered. */
export const registrationBody = onlyFields({
  url: z
    .string(URL_MISSING)
    .min(1, URL_MISSING)
    .meta({ description: 'An HTTPS URL on the public internet.', format: 'uri', maxLength: 2048 }),
  events: listOf(EVENT_TYPES),
  operations: listOf(AGENT_OPERATIONS),
});
type Parsed = z.output<typeof registrationBody>;
export type WebhookRegistration = { readonly [Field in keyof Parsed]: Readonly<Parsed[Field]> };

function listOf<Word extends string>(words: readonly Word[]) {
  const message = `must be a list of ${words.join(', ')}; it may be left out`;
  return z.array(z.enum(words, message), message).max(words.length, message).default([]).describe('All if left out.');
}
