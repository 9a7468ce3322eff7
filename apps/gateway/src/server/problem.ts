import { STATUS_CODES } from 'node:http';

import type { FastifyReply } from 'fastify';

/** What a client is told when there is no other answer (RFC 9457). `detail` never holds internals. */
export interface Problem {
  readonly status: number;
  /** Stable, for programs. */
  readonly code: string;
  /** One sentence for people. */
  readonly detail: string;
  readonly retryAfterMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

export function renderProblem({ status, code, detail }: Problem, requestId: string): string {
  return JSON.stringify({
    type: 'about:blank',
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail,
    code,
    requestId,
  });
}

export function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  const { retryAfterMs, headers } = problem;
  if (headers !== undefined) void reply.headers(headers);
  if (retryAfterMs !== undefined) void reply.header('Retry-After', toRetryAfter(retryAfterMs));
  return reply
    .code(problem.status)
    .header('Cache-Control', 'no-store')
    .header('X-Request-Id', reply.request.id)
    .type(PROBLEM_TYPE)
    .send(renderProblem(problem, reply.request.id));
}

/** Whole seconds, at least one: a client that takes zero at its word would spin. */
export function toRetryAfter(retryAfterMs: number): string {
  return String(Math.max(1, Math.ceil(retryAfterMs / 1000)));
}
