import type { FastifyReply } from 'fastify';

import type { HtmlPage } from '../paywall/offer/html-page.js';
import { setHeaders } from '../server/set-headers.js';

export function sendPage(reply: FastifyReply, { body, headers }: HtmlPage): FastifyReply {
  setHeaders(reply, headers);
  return reply.header('Cache-Control', 'no-store').send(body);
}
