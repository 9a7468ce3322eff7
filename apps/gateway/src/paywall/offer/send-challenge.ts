import { problemOf, sendProblem, type Problem } from '@tollgate/http';
import type { FastifyReply, FastifyRequest } from 'fastify';

import { setHeaders } from '../../server/set-headers.js';
import type { RenderedChallenge } from './challenges.js';
import { isHeadTooLong } from './head-sizes.js';
import type { HtmlPage } from './html-page.js';

/** No payment could be judged, so none is asked for. */
const NOTHING_OFFERED: Problem = {
  status: 503,
  code: 'verification_unavailable',
  detail: 'No payment can be verified now, so none is asked for. Send the same request later.',
  retryAfterMs: 2_000,
};

/** Sends the 402 of a request whose payment or sign-in was refused, with headers that state the reason. */
export function sendChallenge(
  reply: FastifyReply,
  challenge: RenderedChallenge | null,
  reasonHeaders: readonly (readonly [string, string])[],
): FastifyReply {
  if (challenge === null) return sendNothingOffered(reply);
  if (isHeadTooLong(challenge.headers)) return sendProblem(reply, problemOf(414));
  setHeaders(reply, challenge.headers);
  for (const [name, value] of reasonHeaders) void reply.header(name, value);
  return reply
    .code(402)
    .header('Cache-Control', 'no-store')
    .header('X-Request-Id', reply.request.id)
    .type('application/json; charset=utf-8')
    .send(challenge.body);
}

export function sendNothingOffered(reply: FastifyReply): FastifyReply {
  return sendProblem(reply, NOTHING_OFFERED);
}

interface UnpaidAnswer {
  readonly challenge: RenderedChallenge;
  /** Whether browsers get a page in its place. */
  readonly varies: boolean;
}

/**
 * Writes the 402 of a request without payment directly to Node's response: it is the gateway's most frequent response,
 * and Fastify's reply pipeline would take as long as the rest of it.
 */
export function sendUnpaid(request: FastifyRequest, reply: FastifyReply, { challenge, varies }: UnpaidAnswer): void {
  const content = ['Content-Type', 'application/json; charset=utf-8'];
  if (varies) content.push('Vary', 'Accept');
  write(request, reply, challenge, { headers: content, body: challenge.body });
}

/** Sends the 402 as a page for a browser: status and headers are those of the JSON, except the content's own. */
export function sendUnpaidPage(
  request: FastifyRequest,
  reply: FastifyReply,
  challenge: RenderedChallenge,
  page: HtmlPage,
): void {
  write(request, reply, challenge, { headers: [...page.headers, 'Vary', 'Accept'], body: page.body });
}

interface Content {
  /** Alternating names and values. */
  readonly headers: readonly string[];
  readonly body: string;
}

function write(request: FastifyRequest, reply: FastifyReply, { headers }: RenderedChallenge, content: Content): void {
  if (isHeadTooLong(headers)) {
    sendProblem(reply, problemOf(414));
    return;
  }
  const { body } = content;
  const answered = [...content.headers, 'Cache-Control', 'no-store', 'Content-Length', String(body.length), ...headers];
  const { headers: asked } = request.raw;
  if (asked.origin !== undefined || asked['x-request-id'] !== undefined) {
    for (const [name, value] of Object.entries(reply.getHeaders())) answered.push(name, String(value));
  }
  reply.hijack();
  const response = reply.raw;
  response.writeHead(402, answered);
  // ASCII text is sent in one piece with the headers. Node sends no body to a HEAD.
  response.end(body, 'latin1');
}
