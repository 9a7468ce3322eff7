import type { FastifyReply, FastifyRequest } from 'fastify';

import { setHeaders } from '../../server/set-headers.js';
import type { RenderedChallenge } from './challenges.js';
import type { HtmlPage } from './html-page.js';

/** Sends the 402 of a request whose payment or sign-in was refused, with headers that state the reason. */
export function sendChallenge(
  reply: FastifyReply,
  challenge: RenderedChallenge,
  reasonHeaders: readonly (readonly [string, string])[],
): FastifyReply {
  setHeaders(reply, challenge.headers);
  for (const [name, value] of reasonHeaders) void reply.header(name, value);
  return reply
    .code(402)
    .header('Cache-Control', 'no-store')
    .header('X-Request-Id', reply.request.id)
    .type('application/json; charset=utf-8')
    .send(challenge.body);
}

interface UnpaidAnswer {
  /** Null for HEAD: a HEAD presents no payment, so a client that paid for its challenge would get nothing. */
  readonly challenge: RenderedChallenge | null;
  /** Whether browsers get a page in its place. */
  readonly varies: boolean;
}

/**
 * Writes the 402 of a request without payment directly to Node's response: it is the gateway's most frequent response,
 * and Fastify's reply pipeline would take as long as the rest of it.
 */
export function sendUnpaid(request: FastifyRequest, reply: FastifyReply, { challenge, varies }: UnpaidAnswer): void {
  const answered = ['Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store'];
  if (varies) answered.push('Vary', 'Accept');
  if (challenge !== null) answered.push('Content-Length', String(challenge.body.length), ...challenge.headers);
  write(request, reply, answered, challenge?.body ?? null);
}

/** Sends the 402 as a page for a browser: status and headers are those of the JSON, except the content's own. */
export function sendUnpaidPage(
  request: FastifyRequest,
  reply: FastifyReply,
  challenge: RenderedChallenge,
  page: HtmlPage,
): void {
  const body = Buffer.from(page.body);
  const answered = [...page.headers, 'Cache-Control', 'no-store', 'Vary', 'Accept'];
  answered.push('Content-Length', String(body.length), ...challenge.headers);
  write(request, reply, answered, body);
}

function write(request: FastifyRequest, reply: FastifyReply, answered: string[], body: string | Buffer | null): void {
  const { headers } = request.raw;
  if (headers.origin !== undefined || headers['x-request-id'] !== undefined) {
    for (const [name, value] of Object.entries(reply.getHeaders())) answered.push(name, String(value));
  }
  reply.hijack();
  const response = reply.raw;
  response.writeHead(402, answered);
  if (body === null) response.end();
  // ASCII text is sent in one piece with the headers.
  else if (typeof body === 'string') response.end(body, 'latin1');
  else response.end(body);
}
