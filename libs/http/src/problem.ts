import { STATUS_CODES } from 'node:http';

import type { FastifyReply, FastifyRequest } from 'fastify';

import type { ProblemCode } from './problem-codes.js';

/** An error response (RFC 9457). `detail` never holds internals. */
export interface Problem {
  readonly status: number;
  readonly code: ProblemCode;
  /** One sentence for display. */
  readonly detail: string;
  readonly retryAfterMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Further members of the body, for programs. */
  readonly members?: Readonly<Record<string, unknown>>;
}

/** A problem as a page for people. */
export interface ProblemPage {
  readonly body: string;
  /** Alternating names and values, the content type included. */
  readonly headers: readonly string[];
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Renders the page of a problem for a browser that opens an address; null for every other client. */
    renderProblemPage?: (request: FastifyRequest, problem: Problem) => ProblemPage | null;
  }
}

/** Throw it to answer a request with a problem; `ProblemFilter` sends the answer. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';

  constructor(
    readonly problem: Problem,
    options?: ErrorOptions,
  ) {
    super(problem.detail, options);
  }
}

export const PROBLEM_JSON = 'application/problem+json; charset=utf-8';

const OF_STATUS: Readonly<Record<number, Omit<Problem, 'status'>>> = {
  404: { code: 'not_found', detail: 'Nothing is served at this path.' },
  408: { code: 'request_timeout', detail: 'The request did not arrive in time.' },
  413: { code: 'body_too_large', detail: 'The body of the request is too large.' },
  414: {
    code: 'uri_too_long',
    detail: 'The path is too long: it must have at most 1,024 bytes, and fit into the headers of its challenge.',
  },
  415: { code: 'media_type_unsupported', detail: 'This Content-Type is not supported here.' },
  429: { code: 'too_many_requests', detail: 'Too many requests from this address.' },
  431: { code: 'headers_too_large', detail: 'The headers of the request are too large.' },
  503: { code: 'service_unavailable', detail: 'The service cannot answer now.' },
};

/** The problem of a status, without the message of the error behind it, which may hold internals. */
export function problemOf(status: number): Problem {
  const known = OF_STATUS[status];
  if (known !== undefined) return { status, ...known };
  if (status >= 400 && status < 500) return { status, code: 'bad_request', detail: 'The request is malformed.' };
  return {
    status: 500,
    code: 'internal_error',
    detail: 'Internal error. The server log has the cause under this requestId.',
  };
}

/** The body, as JSON text. */
export function renderProblem({ status, code, detail, members }: Problem, requestId: string): string {
  const title = titleOf(status);
  return JSON.stringify({ ...members, type: `urn:tollgate:error:${code}`, title, status, detail, code, requestId });
}

/** The name of a status. */
export function titleOf(status: number): string {
  return STATUS_CODES[status] ?? 'Error';
}

/** Sends a problem, to browsers as a page where the server has one; its request id is in the body and in the header. */
export function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  const { retryAfterMs, headers } = problem;
  if (headers !== undefined) void reply.headers(headers);
  if (retryAfterMs !== undefined) void reply.header('Retry-After', toRetryAfter(retryAfterMs));
  const { request, server } = reply;
  void reply.code(problem.status).header('Cache-Control', 'no-store').header('X-Request-Id', request.id);
  const page = server.renderProblemPage?.(request, problem) ?? null;
  if (page === null) return reply.type(PROBLEM_JSON).send(renderProblem(problem, request.id));
  for (let at = 0; at + 1 < page.headers.length; at += 2)
    void reply.header(page.headers[at] ?? '', page.headers[at + 1]);
  return reply.send(page.body);
}

/** `Retry-After` in whole seconds, at least 1: a client that obeyed 0 would retry in a loop. */
export function toRetryAfter(retryAfterMs: number): string {
  return String(Math.max(1, Math.ceil(retryAfterMs / 1000)));
}

const MAX_DETAIL = 500;

/** The error for an invalid request; it lists every mistake. */
export function refuseRequest(problems: readonly string[]): ProblemError {
  const detail = problems.join('; ');
  return new ProblemError({
    status: 400,
    code: 'request_invalid',
    detail: detail.length > MAX_DETAIL ? `${detail.slice(0, MAX_DETAIL)}…` : detail,
    members: { problems },
  });
}
