import type { ApiKeyStore } from '@tollgate/http';
import { acceptJob, type JobQueue, type JobRecord, type JobState, type Journal } from '@tollgate/journal';
import { endOfPayment } from '@tollgate/protocol';

import { describeJob } from '../views/describe-job.js';
import { fingerprintOfJob } from '../views/digests.js';
import { JOB_ABANDONED, type RetryRefusal } from './refusals.js';

/** States of a job that has failed, and may be repeated by another. */
const RETRIED_STATES: readonly JobState[] = ['REVERTED', 'CANCELLED', 'REJECTED', 'PLAN_FAILED'];

const MAX_RETRIES = 100;

export interface RetryParts {
  journal: Journal;
  queue: JobQueue;
  apiKeys: Pick<ApiKeyStore, 'readState'>;
}

export type RetryResult =
  /** `known`: an earlier call made the job, which has not failed. */
  { outcome: 'made' | 'known'; job: JobRecord } | { outcome: 'refused'; reason: RetryRefusal };

/** Why a job may not be retried now, or at all. */
export function findRetryFault(job: JobRecord): RetryRefusal | null {
  if (!RETRIED_STATES.includes(job.state)) return 'not_failed';
  if (mayStillPay(job)) return 'may_still_pay';
  if (job.operation === 'fillNonce') return 'fill';
  return job.operation === 'refund' ? 'refund' : null;
}

/** The signature is no longer in the journal, but the server has it. */
function mayStillPay({ failure, steps, stepIndex }: JobRecord): boolean {
  const step = steps[stepIndex];
  if (failure?.code !== JOB_ABANDONED || !step?.signs || step.signature === null) return false;
  return Date.now() < endOfPayment(step.signs) * 1000;
}

/**
 * Repeats the request of a failed job for the same API key; the new job names the old one. A repeated call creates no
 * second job, unless the new one has failed too.
 * @param givenKey the idempotency key of the new job; without one it is made from the number of retries
 */
export async function retryJob(parts: RetryParts, job: JobRecord, givenKey?: string): Promise<RetryResult> {
  const fault = findRetryFault(job);
  if (fault !== null) return { outcome: 'refused', reason: fault };
  const isRevoked = (await parts.apiKeys.readState(job.keyId)) === 'revoked';
  for (let count = 1; count <= MAX_RETRIES; count++) {
    const key = givenKey ?? `retry-${count}-of-${job.id}`;
    // What an earlier call made is still found.
    if (isRevoked && !(await parts.journal.hasJobOf(job.lane, job.keyId, key)))
      return { outcome: 'refused', reason: 'key_revoked' };
    const submitted = await submit(parts, job, key);
    if (submitted.outcome === 'refused') return submitted;
    const { outcome, job: made } = submitted;
    if (outcome === 'made' || givenKey !== undefined || !RETRIED_STATES.includes(made.state)) return submitted;
  }
  return { outcome: 'refused', reason: 'too_often' };
}

async function submit(
  parts: Pick<RetryParts, 'journal' | 'queue'>,
  job: JobRecord,
  idempotencyKey: string,
): Promise<RetryResult> {
  const { lane, operation, wallet, input, keyId, id: retryOf } = job;
  const fingerprint = fingerprintOfJob(describeJob(job, {}), retryOf);
  const request = { lane, operation, wallet, input, keyId, idempotencyKey, fingerprint, retryOf };
  const result = await acceptJob(parts, request);
  switch (result.outcome) {
    case 'accepted':
    case 'known': {
      const made = await parts.journal.readJob(result.jobId);
      if (made === null) return { outcome: 'refused', reason: 'forgotten' };
      return { outcome: result.outcome === 'accepted' ? 'made' : 'known', job: made };
    }
    case 'conflict':
    case 'forgotten':
      return { outcome: 'refused', reason: result.outcome };
    case 'refused':
      return { outcome: 'refused', reason: result.reason };
  }
}
