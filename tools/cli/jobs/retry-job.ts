import { describeJob, fingerprintOf } from '@tollgate/agent-jobs';
import { acceptJob, type JobRecord, type JobState } from '@tollgate/transactions';

import { CommandError } from '../shared/cli-command.js';
import { findJob, type JobParts } from './decide-job.js';

const FAILED: readonly JobState[] = ['REVERTED', 'CANCELLED', 'REJECTED', 'PLAN_FAILED'];
const MAX_RETRIES = 100;

/**
 * Submits again what a job asked that failed, for the same API key; the new job names the old one. Typed twice it is
 * still one new job: only after that one has failed too is there another.
 */
export async function retryJob(parts: JobParts, id: string, givenKey: string | undefined): Promise<string> {
  const job = await findJob(parts.journal, id);
  if (!FAILED.includes(job.state)) {
    throw new CommandError(`${id} is ${job.state}: only a job that has failed can be tried again.`);
  }
  for (let count = 1; count <= MAX_RETRIES; count++) {
    const made = await submit(parts, job, givenKey ?? `retry-${count}-of-${id}`);
    if (made.isNew) return `${made.id} asks again what ${id} asked.`;
    const earlier = await findJob(parts.journal, made.id);
    if (givenKey !== undefined || !FAILED.includes(earlier.state)) {
      return `${id} was tried again already, as ${earlier.id}, which is ${earlier.state}.`;
    }
  }
  throw new CommandError(`${id} was tried again ${MAX_RETRIES} times. Name a --key to do so once more.`);
}

async function submit(
  parts: JobParts,
  job: JobRecord,
  idempotencyKey: string,
): Promise<{ id: string; isNew: boolean }> {
  const { lane, operation, wallet, input, keyId, id: retryOf } = job;
  const fingerprint = fingerprintOf(describeJob(job, {}), retryOf);
  const request = { lane, operation, wallet, input, keyId, idempotencyKey, fingerprint, retryOf };
  const result = await acceptJob(parts, request);
  switch (result.outcome) {
    case 'accepted':
    case 'known':
      return { id: result.jobId, isNew: result.outcome === 'accepted' };
    case 'conflict':
      throw new CommandError('The key belongs to another job. Name another --key.');
    case 'forgotten':
      throw new CommandError(
        `${retryOf} was tried again, and that job ended and is forgotten. Look at the chain, then name a --key.`,
      );
    case 'refused':
      throw new CommandError(
        result.reason === 'lane_full'
          ? `The wallet ${wallet} has as many open jobs as it may have.`
          : `The wallet ${wallet} is not adopted: tollgate wallets adopt ${wallet}`,
      );
  }
}
