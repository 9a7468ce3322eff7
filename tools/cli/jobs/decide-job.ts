import { ChainUnavailableError } from '@tollgate/chain';
import type { CancelResult, JobQueue, JobRecord, Journal, LaneId, RefusalReason, Transition } from '@tollgate/journal';

// The library's index would load Nest, which doubles the start.
import { retryJob, type RetryRefusal } from '../../../libs/agent-jobs/src/decisions/retry-job.js';
import { CommandError } from '../shared/cli-command.js';
import { withChain } from '../shared/with-journal.js';

export interface JobParts {
  journal: Journal;
  queue: JobQueue;
  rpcUrls: readonly string[];
}

export interface Decision {
  command: DecisionName;
  id: string;
  /** Only for `approve`. */
  floorsHash: string | undefined;
}

export type DecisionName = 'cancel' | 'approve' | 'reject' | 'resume' | 'abandon';

/** The author of the decision, in place of the id of an API key. */
const CONSOLE = 'console';

const SENDS_REFUND =
  'This job sends a refund. Approve it at the bookkeeper, with an API key that did not ask for it: in the console, or by POST /operator/jobs/<id>/approve.';
const REJECTED = {
  code: 'JOB_REJECTED',
  message: 'An operator rejected the job.',
  suggestion: 'Ask the operator what is acceptable, and submit that as a new job.',
};
const ABANDONED = {
  code: 'JOB_ABANDONED',
  message: 'An operator abandoned the job.',
  suggestion: 'Look at what its transactions did before it is submitted again.',
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
  if (result.outcome === 'refused') throw new CommandError(explainRefusal(result.reason, job));
  await parts.queue.wake(job.id, job.lane);
  if (result.outcome === 'cancelling') {
    return `${job.id} is being cancelled: a transaction of its nonce is in flight, and whichever is mined decides the outcome.`;
  }
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
      return journal.reject({ jobId: job.id, failure: REJECTED });
    case 'resume':
      return journal.resumeJob(job.id);
    case 'abandon': {
      const hasNonce = typeof job.steps[job.stepIndex]?.nonce === 'number';
      const minedNonce = hasNonce ? await readMinedNonce(parts, job.lane) : 0;
      await assertNoneMined(parts, job);
      return journal.abandonJob({ jobId: job.id, minedNonce, failure: ABANDONED });
    }
  }
}

/** The number of the account's transactions that are mined. */
async function readMinedNonce({ rpcUrls }: JobParts, { chainId, address }: LaneId): Promise<number> {
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
async function assertNoneMined({ rpcUrls }: JobParts, { id, lane, steps, stepIndex }: JobRecord): Promise<void> {
  const step = steps[stepIndex];
  if (!step || step.mined !== null || step.attempts.length === 0) return;
  const hashes = step.attempts.map(({ hash }) => hash);
  const receipt = await withChain(lane.chainId, rpcUrls, (chain) => chain.findReceipt(hashes)).catch(() => {
    throw new CommandError('No RPC server answered whether a transaction of the job is mined. Set RPC_URL.');
  });
  if (receipt)
    throw new CommandError(`A transaction of ${id} is mined: resume the job, so that it ends with that outcome.`);
}

function explainRefusal(reason: RefusalReason, { id, state, approval }: JobRecord): string {
  switch (reason) {
    case 'floors_changed':
      return `The plan of ${id} has changed (its floors: ${approval?.floorsHash ?? 'none'}): review it again with tollgate jobs show.`;
    case 'too_late':
      return `It is too late to cancel ${id}.`;
    case 'nonce_unused':
      return `The nonce of ${id} is not used on the chain: abandoning the job would block the wallet. Resume it instead.`;
    default:
      return `${id} is ${state}, which does not allow this (${reason}).`;
  }
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
      throw new CommandError(explainRetryRefusal(result.reason, job));
  }
}

function explainRetryRefusal(
  reason: RetryRefusal,
  { id, state, wallet }: Pick<JobRecord, 'id' | 'state' | 'wallet'>,
): string {
  switch (reason) {
    case 'not_failed':
      return `${id} is ${state}: only a job that has failed can be retried.`;
    case 'refund':
      return `${id} sends a refund, which the bookkeeper repeats: tollgate refunds retry.`;
    case 'conflict':
      return 'The key belongs to another job. Give another --key.';
    case 'forgotten':
      return `${id} was retried, and that job ended and is forgotten. Look at the chain, then give a --key.`;
    case 'too_often':
      return `${id} was retried too often. Give a --key to retry it once more.`;
    case 'lane_full':
      return `The wallet ${wallet} has reached its limit of open jobs. Wait for one to end.`;
    case 'outbox_full':
      return `As many transactions of the wallet ${wallet} wait for the bookkeeper as may. Start the bookkeeper.`;
    case 'settings_differ':
      return `The agent worker of the wallet ${wallet} has another value of BOOK.`;
    case 'not_adopted':
      return `The wallet ${wallet} is not adopted: tollgate wallets adopt ${wallet}`;
  }
}
