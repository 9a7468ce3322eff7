import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Writes the 402 of a request without proof, straight to Node's response: this is the answer a gateway gives most, and
 * the reply pipeline would take as long as all the rest of it. `body` is ASCII; null for HEAD.
 */
export function sendUnpaid(request: FastifyRequest, reply: FastifyReply, body: string | null): void {
  const { headers } = request.raw;
  const answered = ['Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store'];
  if (body !== null) answered.push('Content-Length', String(body.length));
  if (headers.origin !== undefined || headers['x-request-id'] !== undefined) {
    for (const [name, value] of Object.entries(reply.getHeaders())) answered.push(name, String(value));
  }
  reply.hijack();
  const response = reply.raw;
  response.writeHead(402, answered);
  if (body === null) response.end();
  else response.end(body, 'latin1');
}
