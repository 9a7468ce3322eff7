import { Catch, type ArgumentsHost } from '@nestjs/common';
import { ProblemError, ProblemFilter } from '@tollgate/common';
import { StoreError } from '@tollgate/redis';

import { JOBS_UNAVAILABLE } from './jobs-unavailable.js';

/** Renders the errors of the agent job routes as problems. */
@Catch()
export class AgentErrorFilter extends ProblemFilter {
  override catch(exception: unknown, host: ArgumentsHost): void {
    const isUnavailable = exception instanceof StoreError;
    super.catch(isUnavailable ? new ProblemError(JOBS_UNAVAILABLE, { cause: exception }) : exception, host);
  }
}
