import { ChainUnavailableError } from '@tollgate/chain';
import type { Problem } from '@tollgate/http';
import type { CancelResult, JobRecord, Journal, LaneId, RefusalReason, Transition } from '@tollgate/journal';

// The library's index would load Nest, which doubles the start.
import {
  describeAbandoned,
  JOB_REJECTED,
  OWN_IS_MINED,
  problemOfRefusal,
  problemOfRetry,
  RESUMES_REFUND,
  SENDS_REFUND,
  type RetryRefusal,
} from '../../../libs/agent-jobs/src/decisions/refusals.js';
import { retryJob, type RetryParts } from '../../../libs/agent-jobs/src/decisions/retry-job.js';
import { CommandError } from '../shared/cli-command.js';
import type { FindRpc } from '../shared/find-place.js';
import { withChain } from '../shared/with-journal.js';

export interface JobParts extends RetryParts {
  rpc: FindRpc;
}

export interface Decision {
  command: DecisionName;
  id: string;
  /** Only for `approve`. */
  floorsHash: string | undefined;
}

export type DecisionName = 'cancel' | 'approve' | 'reject' | 'speed-up' | 'resume' | 'abandon';

/** The author of the decision, in place of the id of an API key. */
const CONSOLE = 'console';

const GIVE_KEY = 'Give the new key by --key.';

/** What to do at the command line after a refusal, beside what its text says. */
const HINTS: Readonly<Partial<Record<RefusalReason | RetryRefusal, string>>> = {
  floors_changed: 'Review it with: tollgate jobs show <id>',
  refund: 'Or run: tollgate refunds retry <refund>',
  conflict: GIVE_KEY,
  forgotten: GIVE_KEY,
  too_often: GIVE_KEY,
  not_adopted: 'Run: tollgate wallets adopt <wallet>',
};

export async function findJob(journal: Journal, id: string): Promise<JobRecord> {
  const job = await journal.readJob(id);
  if (job) return job;
  throw new CommandError(`There is no job ${id}. Ended jobs are deleted after some time.`);
}

/** Carries out a decision of an operator and wakes the job's lane. */
export async function decideJob(parts: JobParts, decision: Decision): Promise<string> {
  const job = await findJob(parts.journal, decision.id);
  const result = await decide(parts, job, decision);
  if (result.outcome === 'refused') throw refuse(problemOfRefusal(result.reason, job), result.reason);
  await parts.queue.wake(job.id, job.lane);
  if (result.outcome === 'cancelling') {
    return `${job.id} is being cancelled: a transaction of its nonce is in flight, and whichever is mined decides the outcome.`;
  }
  if (decision.command === 'speed-up')
    return `${job.id} gets a transaction with higher fees, as far as the fee caps allow.`;
  return `${job.id} is ${result.state}${result.outcome === 'unchanged' ? ' already' : ''}.`;
}

async function decide(
  parts: JobParts,
  job: JobRecord,
  { command, floorsHash = '' }: Decision,
): Promise<Transition | CancelResult> {
  const { journal } = parts;
  switch (command) {
    case 'cancel':
      return journal.cancel(job.id);
    case 'approve':
      if (job.operation === 'refund') throw new CommandError(SENDS_REFUND);
      return journal.approve({ jobId: job.id, floorsHash, approvedBy: CONSOLE });
    case 'reject':
      return journal.reject({ jobId: job.id, failure: JOB_REJECTED });
    case 'speed-up':
      return journal.speedUp(job.id);
    case 'resume':
      if (job.operation === 'refund') throw new CommandError(RESUMES_REFUND);
      return journal.resumeJob(job.id);
    case 'abandon': {
      const hasNonce = typeof job.steps[job.stepIndex]?.nonce === 'number';
      const minedNonce = hasNonce ? await readMinedNonce(parts, job.lane) : 0;
      await assertNoneMined(parts, job);
      return journal.abandonJob({ jobId: job.id, minedNonce, failure: describeAbandoned(job) });
    }
  }
}

/** The number of the account's transactions that are mined. */
async function readMinedNonce({ rpc }: JobParts, { chainId, address }: LaneId): Promise<number> {
  const rpcUrls = rpc(chainId);
  if (rpcUrls.length === 0)
    throw new CommandError('This command asks the chain whether the nonce is used: set RPC_URL.');
  const { minedNonce } = await withChain(chainId, rpcUrls, (chain) => chain.readHead(address)).catch(
    (error: unknown) => {
      const isElsewhere = error instanceof ChainUnavailableError && error.reason === 'rpc_wrong_chain';
      throw new CommandError(isElsewhere ? error.message : 'No RPC server answered. Set RPC_URL.');
    },
  );
  return minedNonce;
}

/** A mined transaction of the job decides how it ends: an abandoned job would be submitted again. */
async function assertNoneMined({ rpc }: JobParts, { lane, steps, stepIndex }: JobRecord): Promise<void> {
  const step = steps[stepIndex];
  if (!step || step.mined !== null || step.attempts.length === 0) return;
  const hashes = step.attempts.map(({ hash }) => hash);
  const receipt = await withChain(lane.chainId, rpc(lane.chainId), (chain) => chain.findReceipt(hashes)).catch(() => {
    throw new CommandError('No RPC server answered whether a transaction of the job is mined. Set RPC_URL.');
  });
  if (receipt) throw new CommandError(OWN_IS_MINED);
}

/** Repeats the request of a failed job, and says which job that is. */
export async function repeatJob(parts: JobParts, id: string, givenKey: string | undefined): Promise<string> {
  const job = await findJob(parts.journal, id);
  const result = await retryJob(parts, job, givenKey);
  switch (result.outcome) {
    case 'made':
      return `${result.job.id} repeats the request of ${id}.`;
    case 'known':
      return `${id} was already retried as ${result.job.id}, which is ${result.job.state}.`;
    case 'refused':
      throw refuse(problemOfRetry(result.reason, job), result.reason);
  }
}

function refuse({ detail }: Problem, reason: RefusalReason | RetryRefusal): CommandError {
  const hint = HINTS[reason];
  return new CommandError(hint === undefined ? detail : `${detail} ${hint}`);
}
