import type { FastifyRequest } from 'fastify';

import type { ConsoleSession } from './console-sessions.js';

const FORWARDED = '/console/operator/';

const forwarded = new WeakSet<object>();
const sessions = new WeakMap<FastifyRequest, ConsoleSession>();

/** Fastify's `rewriteUrl`: below `/console/operator` the console reaches the operator API, by its session alone. */
export function forwardToOperator(request: { url?: string | undefined }): string {
  const url = request.url ?? '/';
  if (!url.startsWith(FORWARDED)) return url;
  forwarded.add(request);
  return url.slice('/console'.length);
}

/** Whether the request came below `/console/operator`: no other credential than the session counts. */
export function isForwarded({ raw }: FastifyRequest): boolean {
  return forwarded.has(raw);
}

export function attachSession(request: FastifyRequest, session: ConsoleSession): void {
  sessions.set(request, session);
}

/** The session of a request that came below `/console/operator`; null for every other. */
export function sessionOf(request: FastifyRequest): ConsoleSession | null {
  return sessions.get(request) ?? null;
}
