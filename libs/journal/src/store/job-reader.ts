import { FINAL_STATES } from '@tollgate/protocol';
import type { AcknowledgedCommands } from '@tollgate/redis';
import type { Cluster, Redis } from 'ioredis';

import type { JobRecord, LaneId } from '../jobs/job.js';
import { jobKey, jobsKey, nameLane, readLaneName } from '../jobs/keys.js';
import { parseJob, UnreadableJobError } from '../jobs/parse-job.js';
import type { JobPage, ListJobsRequest } from '../jobs/transition.js';

interface Waiting {
  jobId: string;
  resolve: (job: JobRecord | null) => void;
  reject: (error: unknown) => void;
}

/** Reads jobs. Reads of one lane within one turn of the event loop share one request. */
export class JobReader {
  readonly #waiting = new Map<LaneId, Waiting[]>();

  /** `acknowledged`: a worker broadcasts what it reads, which the replicas must therefore have. */
  constructor(
    private readonly redis: Redis | Cluster,
    private readonly acknowledged?: AcknowledgedCommands,
  ) {}

  /** `lane`: the same object for the same lane, as the registry returns it. Null when the job does not exist. */
  read(lane: LaneId, jobId: string): Promise<JobRecord | null> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(lane) ?? [];
      if (waiting.length === 0) setImmediate(() => void this.#flush(lane));
      waiting.push({ jobId, resolve, reject });
      this.#waiting.set(lane, waiting);
    });
  }

  async #readAcknowledged(lane: LaneId, { jobId, resolve, reject }: Waiting): Promise<void> {
    const key = jobKey(lane, jobId);
    try {
      const fields = await this.acknowledged?.run(key, ['hgetall', key]);
      resolve(parseJob(lane, jobId, fields as Record<string, string>));
    } catch (error) {
      reject(error);
    }
  }

  async #flush(lane: LaneId): Promise<void> {
    const batch = this.#waiting.get(lane) ?? [];
    this.#waiting.delete(lane);
    if (this.acknowledged) return void batch.forEach((one) => void this.#readAcknowledged(lane, one));
    const pipeline = this.redis.pipeline(batch.map(({ jobId }) => ['hgetall', jobKey(lane, jobId)]));
    const replies = await pipeline.exec().catch((error: unknown) => batch.map(() => [error, null] as const));
    for (const [index, { jobId, resolve, reject }] of batch.entries()) {
      const [error, fields] = replies?.[index] ?? [new Error('Redis left out an answer'), null];
      try {
        if (error) reject(error);
        else resolve(parseJob(lane, jobId, fields as Record<string, string>));
      } catch (unreadable) {
        reject(unreadable);
      }
    }
  }
}

/** How many jobs one page examines, however few of them it returns. */
const MAX_EXAMINED = 1000;
const MAX_LIMIT = 200;

interface Place {
  /** Unique within its lane. */
  score: number;
  lane: LaneId;
}

type Found = Place & { jobId: string };

/** The error in place of a job that cannot be read. */
export function orUnreadable(reading: Promise<JobRecord | null>): Promise<JobRecord | UnreadableJobError | null> {
  return reading.catch((error: unknown) => {
    if (error instanceof UnreadableJobError) return error;
    throw error;
  });
}

/**
 * One job of a lane; null when it does not exist, is of another API key, or has ended in another state. Ended jobs may be
 * large, with what a payment has bought, so these are not read.
 */
async function readJob(
  redis: Redis | Cluster,
  { lane, jobId }: Found,
  { keyId, states }: Pick<ListJobsRequest, 'keyId' | 'states'>,
): Promise<JobRecord | null> {
  const key = jobKey(lane, jobId);
  if (keyId !== undefined || states !== undefined) {
    const [owner, state] = await redis.hmget(key, 'keyId', 'state');
    if (keyId !== undefined && owner !== keyId) return null;
    const ended = FINAL_STATES.find((one) => one === state);
    if (ended !== undefined && states !== undefined && !states.includes(ended)) return null;
  }
  return parseJob(lane, jobId, await redis.hgetall(key));
}

/**
 * A page of the jobs of several lanes, newest first. A page may be shorter than its limit and still have a cursor when
 * few jobs matched the filter. `cursor` is null after the last page.
 * @throws TypeError when the cursor is invalid.
 */
export async function listJobs(redis: Redis | Cluster, request: ListJobsRequest): Promise<JobPage> {
  const limit = Math.min(Math.max(1, request.limit ?? 50), MAX_LIMIT);
  const page = { jobs: [] as JobRecord[], unreadable: [] as UnreadableJobError[] };
  let place = request.cursor === undefined ? null : readCursor(request.cursor);
  for (let examined = 0; examined < MAX_EXAMINED;) {
    const found = await findNext(redis, request.lanes, place, limit);
    const records = await Promise.all(found.map((one) => orUnreadable(readJob(redis, one, request))));
    for (const [index, one] of found.entries()) {
      place = one;
      const record = records[index];
      // The state, operation and wallet of one that cannot be read may be any.
      if (record instanceof UnreadableJobError) page.unreadable.push(record);
      else if (record && fits(record, request)) page.jobs.push(record);
      if (page.jobs.length + page.unreadable.length === limit) return { ...page, cursor: writeCursor(one) };
    }
    if (found.length < limit) return { ...page, cursor: null };
    examined += found.length;
  }
  return { ...page, cursor: place && writeCursor(place) };
}

function fits(job: JobRecord, { states, operation, wallet }: ListJobsRequest): boolean {
  return (
    (states === undefined || states.includes(job.state)) &&
    (operation === undefined || job.operation === operation) &&
    (wallet === undefined || job.wallet === wallet)
  );
}

/** The next jobs after a position, over all lanes: the first of each lane, merged. */
async function findNext(
  redis: Redis | Cluster,
  lanes: readonly LaneId[],
  after: Place | null,
  count: number,
): Promise<Found[]> {
  const perLane = await Promise.all(lanes.map((lane) => findInLane(redis, lane, after, count)));
  return perLane.flat().sort(compare).slice(0, count);
}

async function findInLane(redis: Redis | Cluster, lane: LaneId, after: Place | null, count: number): Promise<Found[]> {
  const isIncluded = after !== null && compare({ score: after.score, lane }, after) > 0;
  const from = after === null ? '+inf' : `${isIncluded ? '' : '('}${after.score}`;
  const flat = await redis.zrange(jobsKey(lane), from, '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, count, 'WITHSCORES');
  const found: Found[] = [];
  for (let index = 0; index + 1 < flat.length; index += 2) {
    found.push({ lane, jobId: flat[index] ?? '', score: Number(flat[index + 1]) });
  }
  return found;
}

function compare(one: Place, other: Place): number {
  if (one.score !== other.score) return other.score - one.score;
  const [a, b] = [nameLane(one.lane), nameLane(other.lane)];
  return a < b ? -1 : a > b ? 1 : 0;
}

function writeCursor({ score, lane }: Place): string {
  return `${score}.${nameLane(lane)}`;
}

function readCursor(cursor: string): Place {
  const [, score, name = ''] = /^(\d{1,15})\.(.+)$/.exec(cursor) ?? [];
  const lane = readLaneName(name);
  if (score === undefined || lane === null) throw new TypeError('this is not a cursor of a list of jobs');
  return { score: Number(score), lane };
}
