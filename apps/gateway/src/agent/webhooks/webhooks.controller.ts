import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Post, Query, Res, UseFilters } from '@nestjs/common';
import type { ApiKey } from '@tollgate/common';
import type { FastifyReply } from 'fastify';

import { CallerKey } from '../access/caller.js';
import { ForApiKeys } from '../access/for-api-keys.js';
import { AgentErrorFilter } from '../agent-error.filter.js';
import { readLimit, readParameters } from '../read-query.js';
import { refuseRequest } from '../request-invalid.js';
import { parseRegistration } from './parse-registration.js';
import { WebhookRegistry, type DeadLetterView, type NewWebhookView, type WebhookView } from './webhook-registry.js';

@Controller('agent/webhooks')
@UseFilters(AgentErrorFilter)
export class WebhooksController {
  constructor(@Inject(WebhookRegistry) private readonly webhooks: WebhookRegistry) {}

  @Post()
  @ForApiKeys('read', 'operator')
  async register(
    @CallerKey() caller: ApiKey,
    @Body() body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<NewWebhookView> {
    const webhook = await this.webhooks.register(caller, parseRegistration(body));
    void reply.header('Location', `/agent/webhooks/${webhook.id}`);
    return webhook;
  }

  @Get()
  @ForApiKeys('read', 'operator')
  async list(@CallerKey() caller: ApiKey): Promise<{ webhooks: readonly WebhookView[] }> {
    return { webhooks: await this.webhooks.list(caller) };
  }

  @Get('dead-letters')
  @ForApiKeys('read', 'operator')
  async listDeadLetters(
    @CallerKey() caller: ApiKey,
    @Query() query: unknown,
  ): Promise<{ deadLetters: readonly DeadLetterView[] }> {
    const reading = readParameters(query, ['limit']);
    const limit = readLimit(reading);
    if (reading.problems.length > 0) throw refuseRequest(reading.problems);
    return { deadLetters: await this.webhooks.listDeadLetters(caller, limit) };
  }

  @Post('dead-letters/:id/resend')
  @HttpCode(202)
  @ForApiKeys('read', 'operator')
  async resend(@CallerKey() caller: ApiKey, @Param('id') id: string): Promise<void> {
    await this.webhooks.resend(caller, id);
  }

  @Get(':id')
  @ForApiKeys('read', 'operator')
  read(@CallerKey() caller: ApiKey, @Param('id') id: string): Promise<WebhookView> {
    return this.webhooks.read(caller, id);
  }

  @Post(':id/enable')
  @HttpCode(200)
  @ForApiKeys('read', 'operator')
  enable(@CallerKey() caller: ApiKey, @Param('id') id: string): Promise<WebhookView> {
    return this.webhooks.enable(caller, id);
  }

  @Delete(':id')
  @HttpCode(204)
  @ForApiKeys('read', 'operator')
  async remove(@CallerKey() caller: ApiKey, @Param('id') id: string): Promise<void> {
    await this.webhooks.remove(caller, id);
  }
}
