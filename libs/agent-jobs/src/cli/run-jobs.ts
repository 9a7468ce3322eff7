import { AGENT_OPERATIONS, JOB_STATES } from '@tollgate/protocol';
import { Journal, JournalError } from '@tollgate/transactions';

import { WalletDirectory } from '../wallet-directory.js';
import { findRedisUrl, findRpcUrls } from './find-place.js';
import { formatJob, formatJobs, toJobJson } from './format-jobs.js';
import { decideJob, findJob, isDecision, type JobParts } from './job-commands.js';
import { listNewestJobs, type JobFilter } from './list-newest-jobs.js';
import { printEvents } from './print-events.js';
import { retryJob } from './retry-job.js';
import {
  CommandError,
  FLAG,
  HELP_FLAG,
  readArguments,
  refuseMoreThan,
  TEXT,
  UsageError,
  withRedis,
} from './run-command.js';
import { withWakeQueues } from './with-wake-queues.js';

export const JOBS_HELP = `Looks after agent jobs, straight in the journal.

  npm run jobs -- list [--state <state,…>] [--operation <name>] [--wallet <name>] [--limit <n>] [--json]   newest first
  npm run jobs -- show <id>                                            [--json]   plan, steps, attempts, failure
  npm run jobs -- events [--follow] [--limit <n>]                      [--json]   what jobs reported, oldest first

  npm run jobs -- cancel <id>                     where a transaction is in flight, the chain decides
  npm run jobs -- approve <id> --floors <hash>    agrees to the plan that show shows, by its floors
  npm run jobs -- reject <id>                     does not
  npm run jobs -- resume <id>                     a job that needs an operator goes on where it was
  npm run jobs -- abandon <id>                    a job that needs an operator is given up; asks the chain first
  npm run jobs -- retry <id> [--key <key>]        a new job that asks what a failed one asked; once, unless that one
                                                  fails too; --key: under this idempotency key

  --limit        how many; default 50
  --redis        the journal's Redis; default REDIS_URL, else that of a running npm run dev, else redis://127.0.0.1:6379
  --queue-redis  the queues' Redis; default QUEUE_REDIS_URL, else the journal's
  --rpc          the chain's RPC servers, comma separated; default RPC_URL, else that of a running npm run dev
`;

const OPTIONS = {
  ...{ state: TEXT, operation: TEXT, wallet: TEXT, limit: TEXT, floors: TEXT, key: TEXT },
  ...{ redis: TEXT, 'queue-redis': TEXT, rpc: TEXT },
  ...{ json: FLAG, follow: FLAG, help: HELP_FLAG },
} as const;

type Environment = Readonly<Record<string, string | undefined>>;
type Values = ReturnType<typeof readArguments<typeof OPTIONS>>['values'];

/**
 * Carries out what was typed; answers what is printed.
 * @param print for what is shown before the end, an event at a time
 * @throws UsageError, CommandError
 */
export async function runJobs(
  args: string[],
  { env, print }: { env: Environment; print: (text: string) => void },
): Promise<string> {
  const { values, positionals } = readArguments(args, OPTIONS);
  const [command, id] = positionals;
  if (values.help || command === undefined) return JOBS_HELP;
  const isLooking = ['list', 'events'].includes(command);
  const decision = isDecision(command) ? command : null;
  if (!isLooking && !['show', 'retry'].includes(command) && decision === null) {
    throw new UsageError(`there is no command ${command}`);
  }
  if (!isLooking && id === undefined) throw new UsageError(`${command} needs the id of a job`);
  refuseMoreThan(isLooking ? 1 : 2, positionals);
  if (command === 'approve' && values.floors === undefined) {
    throw new UsageError('approve needs --floors: the hash that show shows, of the plan that was looked at');
  }
  const filter = parseFilter(values);
  return withRedis(values.redis, async (redis) => {
    const journal = new Journal({ redis });
    await journal.open();
    if (command === 'list') {
      const jobs = await listNewestJobs(journal, new WalletDirectory(redis), filter);
      if (values.json) return JSON.stringify(jobs.map(toJobJson), null, 2);
      return jobs.length === 0 ? 'There is no such job.' : formatJobs(jobs);
    }
    if (command === 'events') return printEvents(journal, { ...filter, ...flags(values), print });
    if (command === 'show') {
      const job = await findJob(journal, id ?? '');
      return values.json ? JSON.stringify(toJobJson(job), null, 2) : formatJob(job, env['EXPLORER_URL']);
    }
    const queueUrl = values['queue-redis'] ?? (env['QUEUE_REDIS_URL'] || findRedisUrl(values.redis));
    return withWakeQueues(queueUrl, (queue) => {
      const parts: JobParts = { journal, queue, rpcUrls: findRpcUrls(values.rpc) };
      if (decision === null) return retryJob(parts, id ?? '', values.key);
      return decideJob(parts, { command: decision, id: id ?? '', floorsHash: values.floors });
    });
  }).catch(explain);
}

function parseFilter({ state, operation, wallet, limit = '50' }: Values): JobFilter {
  const words = state?.split(',').map((word) => word.trim().toUpperCase());
  const states = words && JOB_STATES.filter((one) => words.includes(one));
  if (words?.some((word) => !(JOB_STATES as readonly string[]).includes(word))) {
    throw new UsageError(`--state must be one or more of ${JOB_STATES.join(', ')}`);
  }
  const known = AGENT_OPERATIONS.find((one) => one === operation);
  if (operation !== undefined && known === undefined) {
    throw new UsageError(`--operation must be one of ${AGENT_OPERATIONS.join(', ')}`);
  }
  if (!/^[1-9]\d{0,4}$/.test(limit)) throw new UsageError('--limit must be a whole number from 1 to 99999');
  return { states, operation: known, wallet, limit: Number(limit) };
}

function flags({ follow = false, json = false }: Values): { isFollowing: boolean; isJson: boolean } {
  return { isFollowing: follow, isJson: json };
}

function explain(error: unknown): never {
  throw error instanceof JournalError ? new CommandError(`${error.message} ${error.hint}`) : error;
}
