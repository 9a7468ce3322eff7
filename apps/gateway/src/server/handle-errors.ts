import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

import { Logger } from '@nestjs/common';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';

import { PROBLEM_TYPE, renderProblem, sendProblem, type Problem } from './problem.js';

const PROBLEMS: Readonly<Record<number, Omit<Problem, 'status'>>> = {
  400: { code: 'bad_request', detail: 'The request is malformed.' },
  404: { code: 'not_found', detail: 'Nothing is served at this path.' },
  408: { code: 'request_timeout', detail: 'The request did not arrive in time.' },
  413: { code: 'body_too_large', detail: 'The body of the request is too large.' },
  414: { code: 'uri_too_long', detail: 'A part of the path is too long.' },
  415: { code: 'media_type_unsupported', detail: 'The Content-Type is not one that is read here.' },
  429: { code: 'too_many_requests', detail: 'Too many requests from this address.' },
  431: { code: 'headers_too_large', detail: 'The headers of the request are too large.' },
  503: { code: 'service_unavailable', detail: 'The service cannot answer now.' },
};

const INTERNAL: Problem = { status: 500, code: 'internal_error', detail: 'Something went wrong here.' };

const logger = new Logger('Errors');

/** The problem of a status, without a word of what the error says: that may hold internals. */
export function problemOf(status: number): Problem {
  const known = PROBLEMS[status];
  if (known !== undefined) return { status, ...known };
  if (status < 400 || status >= 500) return INTERNAL;
  const title = STATUS_CODES[status] ?? 'Bad Request';
  return { status, code: title.toLowerCase().replaceAll(/[^a-z]+/g, '_'), detail: `${title}.` };
}

/** For what Fastify and the handlers of paid routes throw. */
export function handleError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const problem = problemOf(error.statusCode ?? 500);
  if (problem.status >= 500) logger.error({ msg: 'internal error', requestId: request.id, err: error });
  return sendProblem(reply, problem);
}

const CLIENT_STATUS: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** For what is no HTTP request at all: there is no reply to answer with, only the connection. */
export function handleClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) return;
  const problem = problemOf(CLIENT_STATUS[error.code ?? ''] ?? 400);
  const body = renderProblem(problem, 'none');
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ''}`,
    `Content-Type: ${PROBLEM_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
