import { Get, Inject, Query, Req, Res } from '@nestjs/common';
import { OUTGOING_EVENT_TYPES } from '@tollgate/book';
import { onlyFields, wordsParameter, type ApiKey } from '@tollgate/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';

import { ForOperators, OperatorKey } from './operator-access.js';
import { OperatorController } from './operator-controller.js';
import { PaymentEventStreams } from './payment-event-streams.js';

const eventQuery = onlyFields({
  type: wordsParameter(OUTGOING_EVENT_TYPES)
    .optional()
    .describe(`One or more of ${OUTGOING_EVENT_TYPES.join(', ')}, separated by commas.`),
});

@OperatorController('events')
export class PaymentEventsController {
  constructor(@Inject(PaymentEventStreams) private readonly streams: PaymentEventStreams) {}

  @Get()
  @ForOperators('operator:read', 'Events of payments as they happen (server-sent events); Last-Event-ID continues')
  async stream(
    @OperatorKey() caller: ApiKey,
    @Query({ schema: eventQuery }) { type }: z.output<typeof eventQuery>,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    if (request.method === 'HEAD') {
      void reply.type('text/event-stream; charset=utf-8').send();
      return;
    }
    await this.streams.serve(caller, type, request.raw.headers['last-event-id'] as string | undefined, reply);
  }
}
