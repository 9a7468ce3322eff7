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
import { type ApiKey, type ApiKeyScope, CHECK_REQUEST, limitParameter, onlyFields } from '@tollgate/common';
import type { FastifyReply } from 'fastify';

import { answerWith, listOf, ref } from '../../docs/describe/openapi-parts.js';
import { ForApiKeys } from '../access/api-key-access.js';
import { CallerKey } from '../access/caller.js';
import { AgentErrorFilter } from '../shared/agent-error.filter.js';
import {
  registrationBody,
  type WebhookRegistration,
  WebhookRegistry,
  type DeadLetterView,
  type NewWebhookView,
  type WebhookView,
} from './webhook-registry.js';

const SCOPES: readonly ApiKeyScope[] = ['read', 'operator'];
const TARGET = { id: 'The id of the target.', problems: { 404: 'This API key has no such entry.' } };
const EXAMPLE = { value: { url: 'https://shop.example/hooks/jobs', events: ['transactionFailed'] } };
const deadLettersQuery = onlyFields({ limit: limitParameter.describe('Maximum number of dead letters.') });
const list = (name: string, items: string) => ({ type: 'object', properties: { [name]: listOf(ref(items)) } });

@Controller('agent/webhooks')
@UseFilters(AgentErrorFilter)
@UsePipes(CHECK_REQUEST)
export class WebhooksController {
  constructor(@Inject(WebhookRegistry) private readonly webhooks: WebhookRegistry) {}

  @Post()
  @ForApiKeys(SCOPES, {
    summary: 'Register a webhook target',
    description: 'The secret is shown only in this response.',
    body: { examples: { failures: EXAMPLE } },
    answers: { 201: answerWith('Registered.', ref('NewWebhook')) },
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
  ): Promise<NewWebhookView> {
    const webhook = await this.webhooks.register(caller, registration);
    void reply.header('Location', `/agent/webhooks/${webhook.id}`);
    return webhook;
  }

  @Get()
  @ForApiKeys(SCOPES, {
    summary: 'Webhook targets',
    answers: { 200: answerWith('Oldest first.', list('webhooks', 'Webhook')) },
  })
  async list(@CallerKey() caller: ApiKey): Promise<{ webhooks: readonly WebhookView[] }> {
    return { webhooks: await this.webhooks.list(caller) };
  }

  @Get('dead-letters')
  @ForApiKeys(SCOPES, {
    summary: 'Failed deliveries (dead letters)',
    answers: { 200: answerWith('Newest first.', list('deadLetters', 'DeadLetter')) },
    problems: { 400: 'The limit is not valid.' },
  })
  async listDeadLetters(
    @CallerKey() caller: ApiKey,
    @Query({ schema: deadLettersQuery }) { limit }: { limit: number },
  ): Promise<{ deadLetters: readonly DeadLetterView[] }> {
    return { deadLetters: await this.webhooks.listDeadLetters(caller, limit) };
  }

  @Post('dead-letters/:id/resend')
  @HttpCode(202)
  @ForApiKeys(SCOPES, {
    ...TARGET,
    summary: 'Deliver a dead letter again, with a full set of attempts',
    id: 'The id of the dead letter.',
    answers: { 202: { description: 'The delivery is queued.' } },
  })
  async resend(@CallerKey() caller: ApiKey, @Param('id') id: string): Promise<void> {
    await this.webhooks.resend(caller, id);
  }

  @Get(':id')
  @ForApiKeys(SCOPES, {
    ...TARGET,
    summary: 'A webhook target',
    answers: { 200: answerWith('Without its secret.', ref('Webhook')) },
  })
  read(@CallerKey() caller: ApiKey, @Param('id') id: string): Promise<WebhookView> {
    return this.webhooks.read(caller, id);
  }

  @Post(':id/enable')
  @HttpCode(200)
  @ForApiKeys(SCOPES, {
    ...TARGET,
    summary: 'Enable a disabled webhook target',
    answers: { 200: answerWith('The target receives only events from now on.', ref('Webhook')) },
  })
  enable(@CallerKey() caller: ApiKey, @Param('id') id: string): Promise<WebhookView> {
    return this.webhooks.enable(caller, id);
  }

  @Delete(':id')
  @HttpCode(204)
  @ForApiKeys(SCOPES, {
    ...TARGET,
    summary: 'Remove a webhook target',
    answers: { 204: { description: 'The target receives no more events.' } },
  })
  async remove(@CallerKey() caller: ApiKey, @Param('id') id: string): Promise<void> {
    await this.webhooks.remove(caller, id);
  }
}
