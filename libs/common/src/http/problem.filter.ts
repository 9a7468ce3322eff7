import { Catch, HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';

import { handleError } from './handle-error.js';
import { ProblemError, problemOf, sendProblem, type Problem } from './problem.js';

/** What Fastify says of a body that should be JSON. It parses JSON that tampers with prototypes as little as other text. */
const UNREADABLE_BODIES: Readonly<Record<string, string>> = {
  FST_ERR_CTP_INVALID_JSON_BODY: 'the body is not JSON, or has a field __proto__ or constructor.prototype',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'the body is empty, and not JSON',
};

/** Every error of Nest's part of a server as problem+json. */
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

/** Nest hands on what Fastify throws as the cause of an exception of its own. */
function problemOfHttp(exception: HttpException): Problem {
  const { code = '' } = Object(exception.cause) as Partial<FastifyError>;
  const problem = UNREADABLE_BODIES[code];
  if (problem === undefined) return problemOf(exception.getStatus());
  return { status: 400, code: 'request_invalid', detail: problem, members: { problems: [problem] } };
}

function toError(exception: unknown): FastifyError {
  return (exception instanceof Error ? exception : new Error(String(exception))) as FastifyError;
}
