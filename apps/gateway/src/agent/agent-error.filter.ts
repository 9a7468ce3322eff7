import { Catch, type ArgumentsHost } from '@nestjs/common';
import { ProblemError, ProblemFilter } from '@tollgate/common';
import { JournalError } from '@tollgate/journal';

import { JOBS_UNAVAILABLE } from './jobs-unavailable.js';

/** Renders the errors of the agent job routes as problems. */
@Catch()
export class AgentErrorFilter extends ProblemFilter {
  override catch(exception: unknown, host: ArgumentsHost): void {
    const isUnavailable = exception instanceof JournalError;
    super.catch(isUnavailable ? new ProblemError(JOBS_UNAVAILABLE, { cause: exception }) : exception, host);
  }
}
