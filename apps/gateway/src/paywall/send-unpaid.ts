import type { FastifyReply, FastifyRequest } from 'fastify';

import type { RenderedChallenge } from './challenges.js';

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
