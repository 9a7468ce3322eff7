import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Inject,
  Param,
  Post,
  Query,
  Res,
  UseFilters,
  UsePipes,
} from '@nestjs/common';
import { parseLetterName } from '@tollgate/agent-jobs';
import {
  type ApiKey,
  type ApiKeyScope,
  CHECK_REQUEST,
  limitParameter,
  onlyFields,
  ProblemError,
  type Problem,
} from '@tollgate/http';
import { AGENT_OPERATIONS, EVENT_TYPES } from '@tollgate/protocol';
import { deriveWebhookSecret, type FoundTargets, type TargetName, type WebhookTarget } from '@tollgate/webhooks';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';

import { GatewayEnvironment } from '../../config/gateway.config.js';
import { answerWith } from '../../docs/describe/openapi-parts.js';
import { ForApiKeys } from '../access/api-key-access.js';
import { CallerKey, isOperator } from '../access/caller.js';
import { AgentConnections } from '../shared/agent-connections.js';
import { AgentErrorFilter } from '../shared/agent-error.filter.js';
import { deadLetterList, describe, describeDead, newWebhook, webhook, webhookList } from './webhook-views.js';

const SCOPES: readonly ApiKeyScope[] = ['read', 'operator'];
const TARGET = { id: 'The id of the target.', problems: { 404: 'This API key has no such entry.' } };
const EXAMPLE = { value: { url: 'https://shop.example/hooks/jobs', events: ['transactionFailed'] } };
const deadLettersQuery = onlyFields({ limit: limitParameter.describe('Maximum number of dead letters.') });

const URL_MISSING = 'must be the URL to which events are posted';

/** Empty lists: all. Which URLs are allowed is decided when the target is registered. */
const registrationBody = onlyFields({
  url: z
    .string(URL_MISSING)
    .min(1, URL_MISSING)
    .meta({ description: 'An HTTPS URL on the public internet.', format: 'uri', maxLength: 2048 }),
  events: wordsOf(EVENT_TYPES),
  operations: wordsOf(AGENT_OPERATIONS),
});
type Parsed = z.output<typeof registrationBody>;
type WebhookRegistration = { readonly [Field in keyof Parsed]: Readonly<Parsed[Field]> };

function wordsOf<Word extends string>(words: readonly Word[]) {
  const message = `must be a list of ${words.join(', ')}; it may be left out`;
  return z.array(z.enum(words, message), message).max(words.length, message).default([]).describe('All if left out.');
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

/** The webhook targets: an API key manages its own, an operator all. */
@Controller('agent/webhooks')
@UseFilters(AgentErrorFilter)
@UsePipes(CHECK_REQUEST)
export class WebhooksController {
  constructor(
    @Inject(AgentConnections) private readonly connections: AgentConnections,
    @Inject(GatewayEnvironment) private readonly environment: GatewayEnvironment,
  ) {}

  @Post()
  @ForApiKeys(SCOPES, {
    summary: 'Register a webhook target',
    description: 'The secret is shown only in this response.',
    body: { examples: { failures: EXAMPLE } },
    answers: { 201: answerWith('Registered.', newWebhook) },
    problems: {
      400: 'The body is not valid.',
      409: 'The API key has reached its limit of targets.',
      422: 'The URL is not allowed as a target.',
    },
  })
  async register(
    @CallerKey() caller: ApiKey,
    @Body({ schema: registrationBody }) registration: WebhookRegistration,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { agentSecret } = this.environment.agentJobs;
    if (agentSecret === undefined) throw new ProblemError(NO_SECRET);
    const { webhookTargets } = this.connections;
    const result = await this.connections.within(
      webhookTargets.register({ keyId: caller.id, hearsAll: isOperator(caller), ...registration }),
    );
    switch (result.outcome) {
      case 'registered': {
        const { id } = result.target;
        void reply.header('Location', `/agent/webhooks/${id}`);
        return { ...describe(result.target), secret: deriveWebhookSecret(agentSecret, id) };
      }
      case 'refused':
        throw new ProblemError({ status: 422, code: 'webhook_target_refused', detail: result.reason });
      case 'full': {
        const detail = `This API key has reached its limit of ${result.limit} webhook targets. Remove one first.`;
        throw new ProblemError({ status: 409, code: 'too_many_webhooks', detail });
      }
    }
  }

  @Get()
  @ForApiKeys(SCOPES, {
    summary: 'Webhook targets',
    description:
      'A target whose entry cannot be read is named in `unreadable`: it receives no events, and can be removed.',
    answers: { 200: answerWith('Oldest first.', webhookList) },
  })
  async list(@CallerKey() caller: ApiKey) {
    const { targets, unreadable } = await this.#readAll(caller);
    return {
      webhooks: targets.map(describe),
      ...(unreadable.length > 0 && { unreadable: unreadable.map(({ id }) => id) }),
    };
  }

  @Get('dead-letters')
  @ForApiKeys(SCOPES, {
    summary: 'Failed deliveries (dead letters)',
    description: 'A read key sees those of its targets, an operator all. Those of a target end with it.',
    answers: { 200: answerWith('Newest first.', deadLetterList) },
    problems: { 400: 'The limit is not valid.' },
  })
  async listDeadLetters(
    @CallerKey() caller: ApiKey,
    @Query({ schema: deadLettersQuery }) { limit }: { limit: number },
  ) {
    const { webhookDeliveries } = this.connections;
    const letters = webhookDeliveries.listDead(await this.#readNames(caller), limit);
    return { deadLetters: (await this.connections.within(letters)).map(describeDead) };
  }

  @Post('dead-letters/:id/resend')
  @HttpCode(202)
  @ForApiKeys(SCOPES, {
    ...TARGET,
    summary: 'Deliver a dead letter again, with a full set of attempts',
    description: 'Accepted also if the target is disabled; the delivery is then dropped.',
    id: 'The id of the dead letter.',
    answers: { 202: { description: 'The delivery is queued.' } },
  })
  async resend(@CallerKey() caller: ApiKey, @Param('id') id: string): Promise<void> {
    const { webhookDeliveries } = this.connections;
    const { eventId, targetId } = parseLetterName(id);
    const target = (await this.#readNames(caller)).find((name) => name.id === targetId);
    const isResent = target && (await this.connections.within(webhookDeliveries.resend(target, eventId)));
    if (isResent !== true) throw new ProblemError(NOT_FOUND);
  }

  @Get(':id')
  @ForApiKeys(SCOPES, {
    ...TARGET,
    summary: 'A webhook target',
    answers: { 200: answerWith('Without its secret.', webhook) },
  })
  async read(@CallerKey() caller: ApiKey, @Param('id') id: string) {
    return describe(await this.#find(caller, id));
  }

  @Post(':id/enable')
  @HttpCode(200)
  @ForApiKeys(SCOPES, {
    ...TARGET,
    summary: 'Enable a disabled webhook target',
    answers: { 200: answerWith('The target receives only events from now on.', webhook) },
  })
  async enable(@CallerKey() caller: ApiKey, @Param('id') id: string) {
    const target = await this.#find(caller, id);
    const enabled = await this.connections.within(this.connections.webhookTargets.enable(target));
    if (enabled === null) throw new ProblemError(NOT_FOUND);
    return describe(enabled);
  }

  @Delete(':id')
  @HttpCode(204)
  @ForApiKeys(SCOPES, {
    ...TARGET,
    summary: 'Remove a webhook target',
    answers: { 204: { description: 'The target receives no more events.' } },
  })
  async remove(@CallerKey() caller: ApiKey, @Param('id') id: string): Promise<void> {
    const found = (await this.#readNames(caller)).find((name) => name.id === id);
    if (found === undefined) throw new ProblemError(NOT_FOUND);
    await this.connections.within(this.connections.webhookTargets.remove(found));
  }

  async #find(caller: ApiKey, id: string): Promise<WebhookTarget> {
    const found = (await this.#readAll(caller)).targets.find((target) => target.id === id);
    if (found === undefined) throw new ProblemError(NOT_FOUND);
    return found;
  }

  async #readNames(caller: ApiKey): Promise<TargetName[]> {
    const { targets, unreadable } = await this.#readAll(caller);
    return [...targets, ...unreadable];
  }

  #readAll(caller: ApiKey): Promise<FoundTargets> {
    return this.connections.within(this.connections.webhookTargets.list(isOperator(caller) ? undefined : caller.id));
  }
}
