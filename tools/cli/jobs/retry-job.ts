// The library's index would load Nest, which doubles the start.
import { retryJob, type RetryRefusal } from '../../../libs/agent-jobs/src/decisions/retry-job.js';
import { CommandError } from '../shared/cli-command.js';
import { findJob, type JobParts } from './decide-job.js';

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
      throw new CommandError(explain(result.reason, job));
  }
}

function explain(reason: RetryRefusal, { id, state, wallet }: { id: string; state: string; wallet: string }): string {
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
