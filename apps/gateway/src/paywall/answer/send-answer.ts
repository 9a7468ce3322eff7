import { sendProblem } from '@tollgate/common';
import { IDEMPOTENT_REPLAYED, X_PAYMENT_RELEASED } from '@tollgate/protocol';
import type { FastifyReply } from 'fastify';

import type { ProblemAnswer, ResourceAnswer } from './answer.js';
import { privateCacheControl } from './answer-headers.js';

/** Sends an answer to the client. Its payment is already committed or released. */
export function sendAnswer(reply: FastifyReply, answer: ResourceAnswer | ProblemAnswer): FastifyReply {
  if (answer.kind === 'problem') {
    if (answer.released) void reply.header(X_PAYMENT_RELEASED, 'true');
    return sendProblem(reply, answer.problem);
  }
  const { origin, status, headers, body } = answer;
  void reply.code(status);
  for (const [name, value] of headers) {
    // Fastify appends only cookies; every other repeated header is joined as RFC 9110, 5.3 allows.
    const earlier = name.toLowerCase() === 'set-cookie' ? undefined : reply.getHeader(name);
    void reply.header(name, earlier === undefined ? value : `${String(earlier)}, ${value}`);
  }
  if (origin === 'replayed' || origin === 'reproduced') void reply.header(IDEMPOTENT_REPLAYED, 'true');
  if (origin === 'released') void reply.header(X_PAYMENT_RELEASED, 'true');
  return reply
    .header('Cache-Control', origin === 'released' ? 'no-store' : privateCacheControl(headers))
    .header('X-Request-Id', reply.request.id)
    .send(body);
}
