import { ProblemError } from './problem.js';

const MAX_DETAIL = 500;

/** The error for an invalid request; it lists every mistake. */
export function refuseRequest(problems: readonly string[]): ProblemError {
  const detail = problems.join('; ');
  return new ProblemError({
    status: 400,
    code: 'request_invalid',
    detail: detail.length > MAX_DETAIL ? `${detail.slice(0, MAX_DETAIL)}…` : detail,
    members: { problems },
  });
}
