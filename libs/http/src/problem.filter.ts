import { Catch, HttpException, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';

import { ProblemError, problemOf, sendProblem, type Problem } from './problem.js';

/** Fastify's errors for a body that should be JSON. It also refuses JSON that could pollute prototypes. */
const UNREADABLE_BODIES: Readonly<Record<string, string>> = {
  FST_ERR_CTP_INVALID_JSON_BODY: 'the body is not JSON, or has a field __proto__ or constructor.prototype',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'the body is empty, and not JSON',
};

/** Answers every error in the Nest part of a server with problem+json. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  catch(exception: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const reply = http.getResponse<FastifyReply>();
    if (reply.sent) return;
    if (exception instanceof ProblemError) sendProblem(reply, exception.problem);
    else if (exception instanceof HttpException) sendProblem(reply, problemOfHttp(exception));
    else handleError(toError(exception), http.getRequest<FastifyRequest>(), reply);
  }
}

/** Nest wraps an error of Fastify as the `cause` of its own exception. */
function problemOfHttp(exception: HttpException): Problem {
  const { code = '' } = Object(exception.cause) as Partial<FastifyError>;
  const problem = UNREADABLE_BODIES[code];
  if (problem === undefined) return problemOf(exception.getStatus());
  return { status: 400, code: 'request_invalid', detail: problem, members: { problems: [problem] } };
}

function toError(exception: unknown): FastifyError {
  return (exception instanceof Error ? exception : new Error(String(exception))) as FastifyError;
}

const logger = new Logger('Errors');

/** Answers an error of Fastify or a handler; the cause of a 5xx goes to the log only. */
export function handleError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const problem = problemOf(error.statusCode ?? 500);
  if (problem.status >= 500) logger.error({ msg: 'internal error', requestId: request.id, err: error });
  return sendProblem(reply, problem);
}
