import { Catch, HttpException, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';

import { createProblem, PROBLEM_JSON } from './problem.js';

/** The parts of a Fastify reply that are used here. */
interface Reply {
  readonly sent: boolean;
  code(status: number): Reply;
  header(name: string, value: string): Reply;
  send(body: string): unknown;
}

/** Turns whatever a handler throws into problem+json; what is not an HttpException is logged and says nothing. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  readonly #logger = new Logger(ProblemFilter.name);

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const reply = http.getResponse<Reply>();
    if (reply.sent) return;
    const requestId = http.getRequest<{ id?: string }>().id;
    const status = statusOf(thrown);
    if (status >= 500 && !(thrown instanceof HttpException)) {
      this.#logger.error(thrown instanceof Error ? thrown : new Error(String(thrown)));
    }
    const detail = status >= 500 ? 'The request could not be served; the log has the cause.' : messageOf(thrown);
    const code = status === 404 ? 'not_found' : status >= 500 ? 'internal_error' : 'bad_request';
    const problem = createProblem({ status, code, detail, requestId });
    reply.code(status).header('content-type', PROBLEM_JSON).send(JSON.stringify(problem));
  }
}

/** Fastify's own errors (body too large, bad JSON) carry `statusCode`. */
function statusOf(thrown: unknown): number {
  if (thrown instanceof HttpException) return thrown.getStatus();
  const status = (thrown as { statusCode?: unknown } | null)?.statusCode;
  return typeof status === 'number' && status >= 400 && status <= 599 ? status : 500;
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : 'The request is not acceptable.';
}
