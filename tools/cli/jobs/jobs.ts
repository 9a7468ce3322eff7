import { Journal, JournalError } from '@tollgate/journal';
import { AGENT_OPERATIONS, JOB_STATES } from '@tollgate/protocol';
import { InvalidArgumentError } from 'commander';
import type { Redis } from 'ioredis';

// The library's index would load Nest, which doubles the start.
import { WalletDirectory } from '../../../libs/agent-jobs/src/wallets/wallet-directory.js';
import { CommandError, type CommandResult } from '../shared/cli-command.js';
import { findQueueRedisUrl, findRedisUrl, findRpcUrls } from '../shared/find-place.js';
import { withRedis } from '../shared/with-redis.js';
import type { JobEventOptions, JobOptions, JobListOptions } from './command.js';
import { decideJob, findJob, type Decision, type JobParts } from './decide-job.js';
import { formatJob, formatJobs, toJobJson } from './format-jobs.js';
import { listNewestJobs, type JobFilter } from './list-newest-jobs.js';
import { printEvents } from './print-events.js';
import { retryJob } from './retry-job.js';
import { withWakeQueues } from './with-wake-queues.js';

export async function listMatchingJobs(options: JobListOptions, env: NodeJS.ProcessEnv): Promise<CommandResult> {
  const filter = parseFilter(options);
  const jobs = await withJournal(options, env, (journal, redis) =>
    listNewestJobs(journal, new WalletDirectory(redis), filter),
  );
  return { json: jobs.map(toJobJson), text: jobs.length === 0 ? 'There is no such job.' : formatJobs(jobs) };
}

export async function showJob(id: string, options: JobOptions, env: NodeJS.ProcessEnv): Promise<CommandResult> {
  const job = await withJournal(options, env, (journal) => findJob(journal, id));
  return { json: toJobJson(job), text: formatJob(job, env['EXPLORER_URL']) };
}

/** Prints events as they are read; with `--follow` it does not end. */
export async function printReports(
  { follow = false, json = false, limit, ...options }: JobEventOptions,
  env: NodeJS.ProcessEnv,
  print: (line: string) => void,
): Promise<void> {
  const text = await withJournal(options, env, (journal) =>
    printEvents(journal, { limit, isFollowing: follow, isJson: json, print }),
  );
  if (text !== '') print(text);
}

export function decide(decision: Decision, options: JobOptions, env: NodeJS.ProcessEnv): Promise<string> {
  return withParts(options, env, (parts) => decideJob(parts, decision));
}

export function retry(id: string, options: JobOptions & { key?: string }, env: NodeJS.ProcessEnv): Promise<string> {
  return withParts(options, env, (parts) => retryJob(parts, id, options.key));
}

function withParts(
  options: JobOptions,
  env: NodeJS.ProcessEnv,
  work: (parts: JobParts) => Promise<string>,
): Promise<string> {
  return withJournal(options, env, (journal) =>
    withWakeQueues(findQueueRedisUrl(options, env), (queue) =>
      work({ journal, queue, rpcUrls: findRpcUrls(options.rpc, env) }),
    ),
  );
}

function withJournal<T>(
  options: JobOptions,
  env: NodeJS.ProcessEnv,
  work: (journal: Journal, redis: Redis) => Promise<T>,
): Promise<T> {
  return withRedis(findRedisUrl(options.redis, env), async (redis) => {
    const journal = new Journal({ redis });
    await journal.open();
    return work(journal, redis);
  }).catch((error: unknown) => {
    throw error instanceof JournalError ? new CommandError(`${error.message} ${error.hint}`) : error;
  });
}

function parseFilter({ state, operation, wallet, limit }: JobListOptions): JobFilter {
  const words = state?.map((word) => word.toUpperCase());
  const states = words && JOB_STATES.filter((one) => words.includes(one));
  if (words?.some((word) => !(JOB_STATES as readonly string[]).includes(word))) {
    throw new InvalidArgumentError(`--state must be one or more of ${JOB_STATES.join(', ')}`);
  }
  const known = AGENT_OPERATIONS.find((one) => one === operation);
  if (operation !== undefined && known === undefined) {
    throw new InvalidArgumentError(`--operation must be one of ${AGENT_OPERATIONS.join(', ')}`);
  }
  return { states, operation: known, wallet, limit };
}
