import type { Problem } from '@tollgate/http';
import { isSigned, type JobRecord, type RefusalReason, type SubmitRefusal } from '@tollgate/journal';
import { endOfPayment, type JobFailure } from '@tollgate/protocol';

/** Why no job is made of a request. */
type NotAccepted =
  /** The idempotency key belongs to another request. */
  | 'conflict'
  /** The job may have been made before, and is no longer stored. */
  | 'forgotten'
  | SubmitRefusal;

/**
 * Why a job is not retried. `refund`: the bookkeeper repeats it. `fill`: its nonce is used. `key_revoked`: the new job
 * would be of that key.
 */
export type RetryRefusal =
  | 'not_failed'
  | 'may_still_pay'
  | 'refund'
  | 'fill'
  | 'key_revoked'
  | 'too_often'
  | NotAccepted;

export const JOB_NOT_FOUND: Problem = {
  status: 404,
  code: 'job_not_found',
  detail: 'There is no such job, or it belongs to another API key.',
};

export const SENDS_REFUND =
  'This job sends a refund. Approve it at the bookkeeper, with an API key that did not ask for it: in the console, or by POST /operator/jobs/<id>/approve.';
export const RESUMES_REFUND =
  'This job sends a refund, which may be paid already. Resume it at the bookkeeper, which looks that up: in the console, or by POST /operator/jobs/<id>/resume.';
export const OWN_IS_MINED =
  "The job's own transaction is mined. Resume the job, so that it ends with the result of that transaction.";

/** How a job ends that an operator rejects. */
export const JOB_REJECTED: JobFailure = {
  code: 'JOB_REJECTED',
  message: 'An operator rejected the job.',
  suggestion: 'Ask the operator what would be approved, and submit that as a new job.',
};

/** The code of a job that an operator abandoned. */
export const JOB_ABANDONED = 'JOB_ABANDONED';

/** How a job ends that an operator abandons. */
export function describeAbandoned({ steps, stepIndex }: Pick<JobRecord, 'steps' | 'stepIndex'>): JobFailure {
  const abandoned = { code: JOB_ABANDONED, message: 'An operator abandoned the job.' };
  const step = steps[stepIndex];
  if (!isSigned(step))
    return { ...abandoned, suggestion: 'Check what its transactions did before you submit it again.' };
  const until = new Date(endOfPayment(step.signs) * 1000).toISOString();
  const message = `${abandoned.message} Its payment is signed: whoever has the signature can take the money until ${until}.`;
  const suggestion = 'Do not submit it again before then; after that, check on the chain whether the money was taken.';
  return { ...abandoned, message, suggestion };
}

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
    case 'lane_frozen':
      return refuseState(
        state,
        'Redis may have lost that this job was sent. Decide again once its wallet was compared with the chain: the worker does that, or an operator with `tollgate wallets adopt`.',
      );
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

/** Why a job is not retried, as the answer to the request. */
export function problemOfRetry(reason: RetryRefusal, { state, wallet }: Pick<JobRecord, 'state' | 'wallet'>): Problem {
  switch (reason) {
    case 'not_failed':
      return refuseState(state, `The job is ${state}. Only a failed job can be retried.`);
    case 'may_still_pay':
      return refuseState(
        state,
        'The job was abandoned while its payment was signed, and the money can still be taken. Retry it after the time that its failure names, if the chain shows that nothing was taken.',
      );
    case 'refund':
      return refuseState(
        state,
        'This job sends a refund. Retry the refund at the bookkeeper: POST /operator/refunds/<id>/retry.',
      );
    case 'fill':
      return refuseState(state, 'The nonce that this job should fill is used.');
    case 'key_revoked':
      return refuseState(
        state,
        'The API key that submitted the job is revoked, and submits no more jobs. Submit the request with another key.',
      );
    case 'too_often': {
      const detail = 'The job was retried too often. Check the chain before you submit it again under a new key.';
      return { status: 410, code: 'job_forgotten', detail };
    }
    default:
      return problemOfSubmit(reason, wallet);
  }
}

/** Why no job is made of a request, as the answer to it. */
export function problemOfSubmit(reason: NotAccepted, wallet: string): Problem {
  switch (reason) {
    case 'conflict': {
      const detail = 'The idempotency key belongs to another request. Use a new key for a new job.';
      return { status: 409, code: 'idempotency_key_reused', detail };
    }
    case 'forgotten': {
      const detail =
        'A job may have been made of this request, and is no longer stored. Check the chain before you submit it again under a new key.';
      return { status: 410, code: 'job_forgotten', detail };
    }
    case 'lane_full': {
      const detail = `The wallet ${wallet} has reached its limit of open jobs, or this API key its share of them. Wait for one to end, then try again.`;
      return { status: 503, code: 'wallet_full', detail, retryAfterMs: 10_000 };
    }
    case 'outbox_full': {
      const detail = `The wallet ${wallet} has reached its limit of transactions that wait for the bookkeeper (BOOK_OUTBOX_LIMIT). Try again once it has read some.`;
      return { status: 503, code: 'outbox_full', detail, retryAfterMs: 10_000 };
    }
    case 'settings_differ': {
      const detail = `The agent worker of the wallet ${wallet} has another value of BOOK than the program that submits the job. Give both the same one.`;
      return { status: 503, code: 'settings_differ', detail, retryAfterMs: 10_000 };
    }
    // No caller of this function sets the limit of time that `late` is about.
    case 'late':
    case 'not_adopted': {
      const detail = `The wallet ${wallet} is not in use yet: an operator must adopt it first.`;
      return { status: 503, code: 'wallet_not_adopted', detail, retryAfterMs: 60_000 };
    }
  }
}

export function refuseState(state: string, detail: string): Problem {
  return { status: 409, code: 'job_state', detail, members: { state } };
}
