import { Controller, Get, Inject, Query, Req, Res, UseFilters, UsePipes } from '@nestjs/common';
import { type ApiKey, CHECK_REQUEST } from '@tollgate/http';
import type { FastifyReply, FastifyRequest } from 'fastify';

import { ForApiKeys } from '../access/api-key-access.js';
import { CallerKey } from '../access/caller.js';
import { AgentErrorFilter } from '../shared/agent-error.filter.js';
import { eventQuery, type EventFilter } from './event-request.js';
import { EventStreams } from './event-streams.js';

const STREAM = { schema: { type: 'string' }, example: 'id: e1.j1a2b3c4d-1z\nevent: jobCompleted\ndata: {…}\n\n' };

@Controller('agent/events')
@UseFilters(AgentErrorFilter)
@UsePipes(CHECK_REQUEST)
export class EventsController {
  constructor(@Inject(EventStreams) private readonly streams: EventStreams) {}

  @Get()
  @ForApiKeys(['read', 'operator'], {
    summary: 'Events as they happen (server-sent events)',
    description:
      'Each `data` is an AgentJobEvent. A key receives the events of its own jobs, an operator those of all. `eventsMissed` reports events that are no longer stored or cannot be read: read the jobs instead.',
    headers: [
      {
        name: 'Last-Event-ID',
        description: 'Continues after this `id` of a stream or of an event. Without it, only new events are sent.',
        schema: { type: 'string' },
      },
    ],
    answers: { 200: { description: 'An endless stream.', content: { 'text/event-stream': STREAM } } },
    problems: {
      400: 'A parameter or Last-Event-ID is not valid.',
      429: 'Too many streams or requests with this API key.',
    },
  })
  async stream(
    @CallerKey() caller: ApiKey,
    @Query({ schema: eventQuery }) filter: EventFilter,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    if (request.method === 'HEAD') {
      void reply.type('text/event-stream; charset=utf-8').send();
      return;
    }
    await this.streams.serve(caller, filter, request.raw.headers['last-event-id'] as string | undefined, reply);
  }
}
