import type { FastifyReply, FastifyRequest } from 'fastify';

import { setHeaders } from '../../server/set-headers.js';
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

/**
 * Writes the 402 of a request without payment directly to Node's response: it is the gateway's most frequent response,
 * and Fastify's reply pipeline would take as long as the rest of it. Without body for HEAD (`challenge` null).
 */
export function sendUnpaid(request: FastifyRequest, reply: FastifyReply, challenge: RenderedChallenge | null): void {
  const { headers } = request.raw;
  const answered = ['Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store'];
  if (challenge !== null) answered.push('Content-Length', String(challenge.body.length), ...challenge.headers);
  if (headers.origin !== undefined || headers['x-request-id'] !== undefined) {
    for (const [name, value] of Object.entries(reply.getHeaders())) answered.push(name, String(value));
  }
  reply.hijack();
  const response = reply.raw;
  response.writeHead(402, answered);
  if (challenge === null) response.end();
  else response.end(challenge.body, 'latin1');
}
