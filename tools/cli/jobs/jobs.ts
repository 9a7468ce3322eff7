import { setTimeout as sleep } from 'node:timers/promises';

import {
  nameLane,
  type JobEvent,
  type JobQueue,
  type JobRecord,
  type Journal,
  type LaneStatus,
} from '@tollgate/journal';
import { JOB_OPERATIONS, JOB_STATES } from '@tollgate/protocol';
import { createRedis } from '@tollgate/redis';
import { InvalidArgumentError } from 'commander';

// The libraries' indexes would load Nest, which doubles the start.
import { WakeQueues } from '../../../libs/agent-jobs/src/queues/wake-queues.js';
import { WalletDirectory } from '../../../libs/agent-jobs/src/wallets/wallet-directory.js';
import { ApiKeyStore } from '../../../libs/http/src/api-keys/api-key-store.js';
import type { CommandResult } from '../shared/cli-command.js';
import { findDurability } from '../shared/find-durability.js';
import { findQueueRedisPlace, findRedisPlace, findRpcServers } from '../shared/find-place.js';
import { formatTime } from '../shared/format-table.js';
import { withJournal } from '../shared/with-journal.js';
import { decideJob, findJob, repeatJob, type Decision, type JobParts } from './decide-job.js';
import { clean, formatJob, formatJobs, toJobJson } from './format-jobs.js';

export interface JobOptions {
  redis?: string;
  queueRedis?: string;
  rpc?: string;
}

export interface JobListOptions extends JobOptions {
  state?: string[];
  operation?: string;
  wallet?: string;
  limit: number;
}

export interface JobEventOptions extends JobOptions {
  follow?: boolean;
  limit: number;
  json?: boolean;
}

export async function listMatchingJobs(options: JobListOptions, env: NodeJS.ProcessEnv): Promise<CommandResult> {
  const filter = parseFilter(options);
  const { found, unreadable } = await withJournal(findRedisPlace(options.redis, env), async (journal, redis) => {
    const { wallet, limit } = options;
    const entry = wallet === undefined ? null : await new WalletDirectory(redis).find(wallet);
    // A name that was removed from its account is still in that account's jobs.
    const lanes = entry ? [entry.lane] : await journal.readLanes();
    const found: JobRecord[] = [];
    const unreadable: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null && found.length < limit;) {
      const page = await journal.listJobs({ lanes, wallet, limit: 200, ...filter, cursor });
      found.push(...page.jobs);
      unreadable.push(...page.unreadable.map(({ jobId }) => jobId));
      cursor = page.cursor;
    }
    return { found: found.slice(0, limit), unreadable };
  });
  const unread = unreadable.map((id) => ({ id, state: 'unreadable' }));
  return {
    json: [...unread, ...found.map(toJobJson)],
    text: found.length + unread.length === 0 ? 'There is no such job.' : formatJobs(found, unreadable),
  };
}

export async function showJob(id: string, options: JobOptions, env: NodeJS.ProcessEnv): Promise<CommandResult> {
  const job = await withJournal(findRedisPlace(options.redis, env), (journal) => findJob(journal, id));
  return { json: toJobJson(job), text: formatJob(job, env['EXPLORER_URL']) };
}

/** Prints events as they are read; with `--follow` it does not end. `say` gets what is no event. */
export function printReports(
  { follow = false, json = false, limit, ...options }: JobEventOptions,
  env: NodeJS.ProcessEnv,
  { print, say }: Pick<EventPrinting, 'print' | 'say'>,
): Promise<void> {
  return withJournal(findRedisPlace(options.redis, env), (journal) =>
    printEvents(journal, { limit, isFollowing: follow, isJson: json, print, say }),
  );
}

export function decide(decision: Decision, options: JobOptions, env: NodeJS.ProcessEnv): Promise<string> {
  return withParts(options, env, (parts) => decideJob(parts, decision));
}

export function retry(id: string, options: JobOptions & { key?: string }, env: NodeJS.ProcessEnv): Promise<string> {
  return withParts(options, env, (parts) => repeatJob(parts, id, options.key));
}

function withParts(
  options: JobOptions,
  env: NodeJS.ProcessEnv,
  work: (parts: JobParts) => Promise<string>,
): Promise<string> {
  return withJournal(
    findRedisPlace(options.redis, env),
    (journal, redis) =>
      withWakeQueues(findQueueRedisPlace(options, env).url, (queue) =>
        work({ journal, queue, apiKeys: new ApiKeyStore(redis), rpc: findRpcServers(options, env) }),
      ),
    findDurability(env),
  );
}

/** Where the queues that wake lanes do not answer, the work is done anyway, and the text reports it. */
async function withWakeQueues(url: string, work: (queue: JobQueue) => Promise<string>): Promise<string> {
  const redis = createRedis(url, { maxRetriesPerRequest: 1, retryStrategy: () => null });
  redis.on('error', () => undefined);
  let isAway = false;
  const queue = new WakeQueues({ connection: redis, onTrouble: () => (isAway = true) });
  try {
    const text = await work(queue);
    return isAway ? `${text}\nThe queues' Redis did not answer: a worker finds the job some seconds later.` : text;
  } finally {
    // Closing would wait for a connection that may never come.
    redis.disconnect();
    void queue.close();
  }
}

function parseFilter({ state, operation }: JobListOptions) {
  const words = state?.map((word) => word.toUpperCase());
  const states = words && JOB_STATES.filter((one) => words.includes(one));
  if (words?.some((word) => !(JOB_STATES as readonly string[]).includes(word))) {
    throw new InvalidArgumentError(`--state must be one or more of ${JOB_STATES.join(', ')}`);
  }
  const known = JOB_OPERATIONS.find((one) => one === operation);
  if (operation !== undefined && known === undefined) {
    throw new InvalidArgumentError(`--operation must be one of ${JOB_OPERATIONS.join(', ')}`);
  }
  return { ...(states && { states }), ...(known && { operation: known }) };
}

const POLL_MS = 500;

interface EventPrinting {
  /** The number of latest events that come first. */
  limit: number;
  isFollowing: boolean;
  isJson: boolean;
  print: (text: string) => void;
  say: (text: string) => void;
  signal?: AbortSignal;
}

/** Prints the events of jobs, oldest first; to follow, also every new event until the signal is aborted. */
export async function printEvents(journal: Journal, options: EventPrinting): Promise<void> {
  const { limit, isFollowing, isJson, print, say, signal } = options;
  const format = (event: JobEvent): string => (isJson ? JSON.stringify(event) : formatEvent(event));
  const places = new Map<string, Place>();
  const latest: JobEvent[] = [];
  for (const lane of await journal.readLanes()) {
    const { lastSequence, run } = await journal.readLane(lane);
    const events = await journal.outbox.read(lane, { after: Math.max(0, lastSequence - limit), count: limit });
    const last = events.at(-1) ?? null;
    places.set(nameLane(lane), { run, position: last?.sequence ?? lastSequence, last });
    latest.push(...events);
  }
  const sorted = latest.sort((one, other) => one.atMs - other.atMs).slice(-limit);
  sorted.map(format).forEach(print);
  if (sorted.length === 0 && !isFollowing && !isJson) print('No job has reported an event yet.');
  while (isFollowing && signal?.aborted !== true) {
    for (const lane of await journal.readLanes()) {
      const name = nameLane(lane);
      const before = places.get(name) ?? { run: null, position: 0, last: null };
      let events = await journal.outbox.read(lane, { after: before.position });
      // Read after the events, which may be those that took the sequences of lost ones.
      const status = await journal.readLane(lane);
      const { lastSequence, run } = status;
      if (await isOlder(journal, status, before)) {
        say(`Redis went back to older data of ${name}: its latest events follow, also those that came before.`);
        const after = Math.max(0, lastSequence - limit);
        events = await journal.outbox.read(lane, { after });
        places.set(name, { run, position: after, last: null });
      } else places.set(name, { ...before, run });
      for (const event of events) {
        print(format(event));
        places.set(name, { run, position: event.sequence, last: event });
      }
    }
    await sleep(POLL_MS, undefined, signal ? { signal } : {}).catch(() => undefined);
  }
}

/** Up to where the events of a lane were printed, and during which run of the server. */
interface Place {
  run: string | null;
  position: number;
  last: JobEvent | null;
}

/** Whether Redis lost events that were printed. Others may have their sequences by now. */
async function isOlder(
  journal: Journal,
  { lane, lastSequence, run }: LaneStatus,
  { run: knownRun, position, last }: Place,
): Promise<boolean> {
  if (lastSequence < position) return true;
  if (run === knownRun || last === null) return false;
  const [stored] = await journal.outbox.read(lane, { after: last.sequence - 1, count: 1 });
  return stored?.id !== last.id;
}

function formatEvent({ atMs, type, operation, jobId, state, txHash, error }: JobEvent): string {
  const facts = [txHash, error && `${error.code}: ${clean(error.message)}`].filter((fact) => fact !== undefined);
  return [formatTime(atMs), type.padEnd(20), operation.padEnd(18), jobId, state, ...facts].join('  ');
}
