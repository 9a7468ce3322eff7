import { Catch, type ArgumentsHost } from '@nestjs/common';
import { type Problem, ProblemError, ProblemFilter } from '@tollgate/http';
import { StoreError } from '@tollgate/redis';

/** The outcome of the request is unknown. Repeating it with the same Idempotency-Key is safe. */
export const JOBS_UNAVAILABLE: Problem = {
  status: 503,
  code: 'jobs_unavailable',
  detail: 'The job journal is unavailable. Send the same request again.',
  retryAfterMs: 2_000,
};

/** Renders the errors of the agent job routes as problems. */
@Catch()
export class AgentErrorFilter extends ProblemFilter {
  override catch(exception: unknown, host: ArgumentsHost): void {
    const isUnavailable = exception instanceof StoreError;
    super.catch(isUnavailable ? new ProblemError(JOBS_UNAVAILABLE, { cause: exception }) : exception, host);
  }
}
