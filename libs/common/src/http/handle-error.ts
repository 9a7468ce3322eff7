import { Logger } from '@nestjs/common';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';

import { problemOf, sendProblem } from './problem.js';

const logger = new Logger('Errors');

/** Answers an error of Fastify or a handler; the cause of a 5xx goes to the log only. */
export function handleError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const problem = problemOf(error.statusCode ?? 500);
  if (problem.status >= 500) logger.error({ msg: 'internal error', requestId: request.id, err: error });
  return sendProblem(reply, problem);
}
