import { acceptJob, type JobRecord, type JobState } from '@tollgate/journal';

import { fingerprintOfJob } from '../../../libs/agent-jobs/src/request/fingerprint.js';
import { describeJob } from '../../../libs/agent-jobs/src/views/describe-job.js';
import { CommandError } from '../shared/cli-command.js';
import { findJob, type JobParts } from './decide-job.js';

const FAILED: readonly JobState[] = ['REVERTED', 'CANCELLED', 'REJECTED', 'PLAN_FAILED'];
const MAX_RETRIES = 100;

/**
 * Repeats the request of a failed job for the same API key; the new job names the old one. A repeated call creates no
 * second job, unless the new one has failed too.
 */
export async function retryJob(parts: JobParts, id: string, givenKey: string | undefined): Promise<string> {
  const job = await findJob(parts.journal, id);
  if (!FAILED.includes(job.state)) {
    throw new CommandError(`${id} is ${job.state}: only a job that has failed can be retried.`);
  }
  for (let count = 1; count <= MAX_RETRIES; count++) {
    const made = await submit(parts, job, givenKey ?? `retry-${count}-of-${id}`);
    if (made.isNew) return `${made.id} repeats the request of ${id}.`;
    const earlier = await findJob(parts.journal, made.id);
    if (givenKey !== undefined || !FAILED.includes(earlier.state)) {
      return `${id} was already retried as ${earlier.id}, which is ${earlier.state}.`;
    }
  }
  throw new CommandError(`${id} was retried ${MAX_RETRIES} times. Give a --key to retry it once more.`);
}

async function submit(
  parts: JobParts,
  job: JobRecord,
  idempotencyKey: string,
): Promise<{ id: string; isNew: boolean }> {
  const { lane, operation, wallet, input, keyId, id: retryOf } = job;
  const fingerprint = fingerprintOfJob(describeJob(job, {}), retryOf);
  const request = { lane, operation, wallet, input, keyId, idempotencyKey, fingerprint, retryOf };
  const result = await acceptJob(parts, request);
  switch (result.outcome) {
    case 'accepted':
    case 'known':
      return { id: result.jobId, isNew: result.outcome === 'accepted' };
    case 'conflict':
      throw new CommandError('The key belongs to another job. Give another --key.');
    case 'forgotten':
      throw new CommandError(
        `${retryOf} was retried, and that job ended and is forgotten. Look at the chain, then give a --key.`,
      );
    case 'refused':
      throw new CommandError(
        result.reason === 'lane_full'
          ? `The wallet ${wallet} has reached its limit of open jobs. Wait for one to end.`
          : `The wallet ${wallet} is not adopted: tollgate wallets adopt ${wallet}`,
      );
  }
}
