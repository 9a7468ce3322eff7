import type { FastifyReply, FastifyRequest } from 'fastify';

import type { HtmlPage } from '../paywall/offer/html-page.js';
import { setHeaders } from '../server/set-headers.js';
import type { WebFile } from './web-files.js';

export function sendPage(reply: FastifyReply, { body, headers }: HtmlPage): FastifyReply {
  setHeaders(reply, headers);
  return reply.header('Cache-Control', 'no-store').send(body);
}

/** A file whose path changes with its content, so that browsers may keep it. */
export function sendWebFile(request: FastifyRequest, reply: FastifyReply, file: WebFile): FastifyReply {
  const isGzipped = /\bgzip\b/.test(request.raw.headers['accept-encoding'] ?? '');
  void reply
    .type(file.type)
    .header('Cache-Control', 'public, max-age=31536000, immutable')
    .header('Vary', 'Accept-Encoding')
    .header('X-Content-Type-Options', 'nosniff')
    // A logo may be an SVG, which runs scripts where it is opened by itself.
    .header('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox");
  if (!isGzipped) return reply.send(file.body);
  return reply.header('Content-Encoding', 'gzip').send(file.gzipped);
}
