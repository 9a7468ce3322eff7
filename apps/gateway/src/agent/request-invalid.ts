import { ProblemError } from '@tollgate/common';

/** Refuses a request with everything that is wrong with it. */
export function refuseRequest(problems: readonly string[]): ProblemError {
  return new ProblemError({
    status: 400,
    code: 'request_invalid',
    detail: problems.join(' '),
    members: { problems },
  });
}
