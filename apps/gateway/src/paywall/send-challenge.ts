import type { FastifyReply } from 'fastify';

import { setHeaders } from '../server/set-headers.js';
import type { RenderedChallenge } from './challenges.js';

/** Sends the 402 of a request whose payment or sign-in was refused, with headers that state the reason. */
export function sendChallenge(
  reply: FastifyReply,
  challenge: RenderedChallenge,
  told: readonly (readonly [string, string])[],
): FastifyReply {
  setHeaders(reply, challenge.headers);
  for (const [name, value] of told) void reply.header(name, value);
  return reply
    .code(402)
    .header('Cache-Control', 'no-store')
    .header('X-Request-Id', reply.request.id)
    .type('application/json; charset=utf-8')
    .send(challenge.body);
}
