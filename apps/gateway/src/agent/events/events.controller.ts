import { Controller, Get, Inject, Query, Req, Res, UseFilters } from '@nestjs/common';
import type { ApiKey } from '@tollgate/common';
import type { FastifyReply, FastifyRequest } from 'fastify';

import { CallerKey } from '../access/caller.js';
import { ForApiKeys } from '../access/for-api-keys.js';
import { AgentErrorFilter } from '../agent-error.filter.js';
import { parseEventQuery } from './event-request.js';
import { EventStreams } from './event-streams.js';

@Controller('agent/events')
@UseFilters(AgentErrorFilter)
export class EventsController {
  constructor(@Inject(EventStreams) private readonly streams: EventStreams) {}

  @Get()
  @ForApiKeys('read', 'operator')
  async stream(
    @CallerKey() caller: ApiKey,
    @Query() query: unknown,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const filter = parseEventQuery(query);
    if (request.method === 'HEAD') {
      void reply.type('text/event-stream; charset=utf-8').send();
      return;
    }
    await this.streams.serve(caller, filter, request.raw.headers['last-event-id'] as string | undefined, reply);
  }
}
