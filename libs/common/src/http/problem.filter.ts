import { Catch, HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';

import { handleError } from './handle-error.js';
import { ProblemError, problemOf, sendProblem } from './problem.js';

/** Every error of Nest's part of a server as problem+json. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  catch(exception: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const reply = http.getResponse<FastifyReply>();
    if (reply.sent) return;
    if (exception instanceof ProblemError) sendProblem(reply, exception.problem);
    else if (exception instanceof HttpException) sendProblem(reply, problemOf(exception.getStatus()));
    else handleError(toError(exception), http.getRequest<FastifyRequest>(), reply);
  }
}

function toError(exception: unknown): FastifyError {
  return (exception instanceof Error ? exception : new Error(String(exception))) as FastifyError;
}
