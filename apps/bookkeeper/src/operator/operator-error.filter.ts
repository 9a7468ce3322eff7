import { Catch, type ArgumentsHost } from '@nestjs/common';
import { BookUnavailableError, DeposedError, NoSpaceError } from '@tollgate/book';
import { ChainUnavailableError } from '@tollgate/chain';
import { ProblemError, ProblemFilter, type Problem } from '@tollgate/http';
import { StoreError } from '@tollgate/redis';
import { RefundRefusedError } from '@tollgate/refunds';

const UNAVAILABLE: Problem = {
  status: 503,
  code: 'book_unavailable',
  detail: 'The database of the book does not answer, or another bookkeeper has taken it over.',
  retryAfterMs: 2_000,
};

const JOBS_UNAVAILABLE: Problem = {
  status: 503,
  code: 'jobs_unavailable',
  detail: 'The ledger and the journal cannot be asked now. Send the same request again.',
  retryAfterMs: 2_000,
};

const CHAIN_UNAVAILABLE: Problem = {
  status: 503,
  code: 'chain_unavailable',
  detail: 'No RPC server of the chain answers. Send the same request again.',
  retryAfterMs: 2_000,
};

const UNSTORABLE: Problem = {
  status: 400,
  code: 'request_invalid',
  detail: 'The request has characters that no text in the book can have.',
};
/** What PostgreSQL says of a text with a zero byte, or with half a character. */
const UNSTORABLE_CODES = ['22021', '22P05'];

/** Answers the errors of the operator routes as problems. */
@Catch()
export class OperatorErrorFilter extends ProblemFilter {
  override catch(exception: unknown, host: ArgumentsHost): void {
    super.catch(explain(exception), host);
  }
}

function explain(exception: unknown): unknown {
  const problem = findProblem(exception);
  return problem === null ? exception : new ProblemError(problem, { cause: exception });
}

function findProblem(exception: unknown): Problem | null {
  if (exception instanceof BookUnavailableError || exception instanceof DeposedError) return UNAVAILABLE;
  if (exception instanceof NoSpaceError) return { ...UNAVAILABLE, detail: exception.message };
  if (exception instanceof RefundRefusedError) {
    const { code, message: detail, members } = exception;
    return { status: code.endsWith('_not_found') ? 404 : 409, code, detail, members };
  }
  if (exception instanceof StoreError) return JOBS_UNAVAILABLE;
  if (exception instanceof ChainUnavailableError) return CHAIN_UNAVAILABLE;
  const { code = '' } = Object(exception) as { code?: string };
  return UNSTORABLE_CODES.includes(code) ? UNSTORABLE : null;
}
