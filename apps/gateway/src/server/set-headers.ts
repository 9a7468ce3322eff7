import type { FastifyReply } from 'fastify';

/** @param headers alternating names and values; a name may stand several times */
export function setHeaders(reply: FastifyReply, headers: readonly string[]): void {
  const values = new Map<string, string[]>();
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at] ?? '';
    values.set(name, [...(values.get(name) ?? []), headers[at + 1] ?? '']);
  }
  for (const [name, all] of values) void reply.header(name, all.length === 1 ? all[0] : all);
}
