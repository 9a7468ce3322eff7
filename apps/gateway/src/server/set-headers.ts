import type { FastifyReply } from 'fastify';

/** @param headers alternating names and values */
export function setHeaders(reply: FastifyReply, headers: readonly string[]): void {
  for (let at = 0; at + 1 < headers.length; at += 2) void reply.header(headers[at] ?? '', headers[at + 1]);
}
