import type { Problem } from '@tollgate/common';
import type { JobRecord, RefusalReason } from '@tollgate/journal';

export const JOB_NOT_FOUND: Problem = {
  status: 404,
  code: 'job_not_found',
  detail: 'There is no such job, or it belongs to another API key.',
};

/** Why the journal refused a decision about a job, as the answer to the request. */
export function problemOfRefusal(reason: RefusalReason, { state, approval }: JobRecord): Problem {
  switch (reason) {
    case 'own_job':
      return {
        status: 403,
        code: 'own_job',
        detail: 'A job cannot be approved with the API key that submitted it. Use the key of another operator.',
      };
    case 'not_found':
      return JOB_NOT_FOUND;
    case 'floors_changed':
      return {
        status: 409,
        code: 'floors_changed',
        detail: '`floorsHash` does not match the current plan. Review the plan and send its hash.',
        members: { state, floorsHash: approval?.floorsHash ?? null },
      };
    case 'too_late':
      return refuseState(state, 'It is too late to cancel the job.');
    case 'nonce_unused':
      return refuseState(
        state,
        "The job's nonce is not used on the chain yet. Resume the job, so that the wallet can continue.",
      );
    default:
      return refuseState(state, `The job is ${state}, which does not allow this.`);
  }
}

export function refuseState(state: string, detail: string): Problem {
  return { status: 409, code: 'job_state', detail, members: { state } };
}
