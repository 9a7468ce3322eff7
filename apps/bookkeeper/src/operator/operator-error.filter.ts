import { Catch, type ArgumentsHost } from '@nestjs/common';
import { BookUnavailableError, DeposedError } from '@tollgate/book';
import { ProblemError, ProblemFilter, type Problem } from '@tollgate/common';

const UNAVAILABLE: Problem = {
  status: 503,
  code: 'book_unavailable',
  detail: 'The database of the book does not answer, or another bookkeeper has taken it over.',
  retryAfterMs: 2_000,
};

/** Answers the errors of the operator routes as problems. */
@Catch()
export class OperatorErrorFilter extends ProblemFilter {
  override catch(exception: unknown, host: ArgumentsHost): void {
    const isAway = exception instanceof BookUnavailableError || exception instanceof DeposedError;
    super.catch(isAway ? new ProblemError(UNAVAILABLE, { cause: exception }) : exception, host);
  }
}
