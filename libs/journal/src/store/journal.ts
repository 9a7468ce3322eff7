import { BOOK_GROUP, laneBookKey } from '@tollgate/book-events';
import {
  AcknowledgedCommands,
  type Durability,
  explainRedisRefusals,
  type ScriptArgument,
  trimAcknowledged,
} from '@tollgate/redis';
import type { Cluster, Redis } from 'ioredis';

import { encodeFailure } from '../jobs/encode-job.js';
import type { JobFailure, JobRecord, LaneId } from '../jobs/job.js';
import {
  DEFAULT_FLEET,
  hashIdempotencyKey,
  idempotencyKey,
  laneKey,
  nameLane,
  openKey,
  spentKey,
} from '../jobs/keys.js';
import type { UnreadableJobError } from '../jobs/parse-job.js';
import { readCancel, readLaneTransition, readRelease, readTransition } from '../jobs/read-reply.js';
import type * as on from '../jobs/transition.js';
import { Outbox } from '../outbox/outbox.js';
import type { TransitionName } from '../transitions/journal-scripts.js';
import { TransitionRunner } from '../transitions/transition-runner.js';
import { JobReader, listJobs, orUnreadable } from './job-reader.js';
import { LaneRegistry, readInFlightSteps, readLaneStatus } from './lane-registry.js';
import { StepJournal } from './step-journal.js';
import { encodeBook, launchNamedJob, submitJob, submitNamedJob, type SubmitTerms } from './submit-job.js';

export interface JournalOptions {
  redis: Redis | Cluster;
  /**
   * The lanes that this journal manages; settings are stored per fleet. Default: the wallets of agent jobs. 1 to 32
   * lower-case letters or dashes.
   */
  fleet?: string;
  /** The longest time an ended job is kept. Default 7 days. */
  retentionMs?: number;
  /** The most ended jobs a lane keeps, about 4 KiB each. Default 20,000. */
  jobsKept?: number;
  /** How many events that all consumers have read a lane keeps, for readers that reconnect. Default 10,000. */
  eventsKept?: number;
  /**
   * The most jobs that may be open in a lane. Default 10,000. One API key may have nine times as many as are left for the
   * others.
   */
  maxOpenJobs?: number;
  /**
   * How many transactions of a lane may wait for the bookkeeper for a new job to be accepted; null: BOOK is off. Jobs
   * that were accepted are carried out and reported in any case. A lane takes jobs only of processes that agree with its
   * worker on whether there is a book; missing: of and with any.
   */
  bookLimit?: number | null;
  /** How long an operation waits for Redis. Default 3 seconds. */
  timeoutMs?: number;
  /** Without it a write counts once the server has answered. */
  durability?: Durability | null;
}

const DAY_MS = 86_400_000;

const CANCELLED: JobFailure = {
  code: 'JOB_CANCELLED',
  message: 'The job was cancelled.',
  suggestion: 'If it is wanted after all, submit it again under a new idempotency key.',
};

const IN_DOUBT: JobFailure = {
  code: 'JOURNAL_LOST_WRITES',
  message:
    'Redis lost writes, and the wallet has sent transactions that the journal does not know. This job may be one of them.',
  suggestion: "Compare the job with the wallet's latest transactions, then resume or abandon it.",
};

/**
 * Jobs and their transitions. Every transition is one atomic script that also writes its event, and may be repeated.
 * All throw StoreUnavailableError when it is unknown whether Redis made the transition.
 */
export class Journal extends StepJournal {
  /** The events of the jobs. */
  readonly outbox: Outbox;
  readonly #redis: Redis | Cluster;
  readonly #reader: JobReader;
  readonly #terms: SubmitTerms;

  constructor(options: JournalOptions) {
    const { redis, timeoutMs = 3000, retentionMs = 7 * DAY_MS, jobsKept = 20_000, eventsKept = 10_000 } = options;
    const { fleet = DEFAULT_FLEET, durability } = options;
    const acknowledged = durability ? new AcknowledgedCommands(redis, durability) : undefined;
    super(
      new TransitionRunner({ redis, fleet, timeoutMs, retentionMs, jobsKept, eventsKept, acknowledged }),
      new LaneRegistry(redis, fleet),
    );
    this.#redis = redis;
    this.#reader = new JobReader(redis, acknowledged);
    this.outbox = new Outbox(redis, this.runner);
    const { maxOpenJobs = 10_000, bookLimit } = options;
    this.#terms = { maxOpenJobs, bookLimit };
  }

  /**
   * Checks this Redis, loads the scripts, and freezes every lane whose server has restarted since.
   * @throws StoreError, with a hint, when Redis is unfit: evicting, read-only, too old.
   */
  open(): Promise<void> {
    return explainRedisRefusals(this.#redis, this.runner.restore());
  }

  /**
   * Initialises a lane's nonce counter from the chain's pending nonce. Called again on a frozen or paused lane, it
   * moves the counter up to the chain's, and open jobs that may have been sent wait for an operator.
   * @throws StoreError for a lane of another fleet
   */
  async adopt(lane: LaneId, { pendingNonce }: { pendingNonce: number }): Promise<on.LaneTransition> {
    assertNonce(pendingNonce);
    await this.runner.within(this.lanes.register(lane).then(() => this.runner.guard(lane)));
    return this.#onLane('adopt', lane, [pendingNonce, encodeFailure(IN_DOUBT)]);
  }

  /**
   * Unfreezes a lane, provided the chain's pending nonce is not above the counter. Where writes were lost, `too_early`
   * until another reading finds the same nonce so many blocks and milliseconds later: what was sent may not show yet.
   */
  async thaw(
    lane: LaneId,
    { pendingNonce, blockNumber, run }: on.ChainReading,
    { nonceDoubtBlocks, nonceDoubtMs }: on.BetweenReadings,
  ): Promise<on.LaneTransition> {
    assertNonce(pendingNonce);
    return this.#onLane('thaw', lane, [pendingNonce, run, blockNumber, nonceDoubtBlocks, nonceDoubtMs]);
  }

  /**
   * Removes the account from this fleet: deletes its counter, its ended jobs and their events, after which any fleet
   * may adopt it from the chain's nonce. Refused while a process works on the lane or any of its jobs has not ended.
   * `isTrial`: only checks.
   */
  async release(lane: LaneId, { isTrial = false } = {}): Promise<on.ReleaseResult> {
    const args = [this.lanes.fleet, isTrial ? '' : '1'];
    const result = readRelease(await this.runner.run('releaseLane', laneKey(lane), null, args));
    if (!isTrial && result.outcome !== 'refused') await this.runner.within(this.lanes.strike(lane));
    return result;
  }

  /**
   * Gives out no new nonce until the lane is resumed. Steps in flight continue. Any other reason replaces that of an
   * empty wallet, which ends by itself; otherwise the first reason stays.
   */
  pauseLane(lane: LaneId, why: JobFailure): Promise<on.LaneTransition> {
    return this.#onLane('pauseLane', lane, [encodeFailure(why)]);
  }

  /** `code`: ends only a pause with this code. */
  resumeLane(lane: LaneId, { code = '' } = {}): Promise<on.LaneTransition> {
    return this.#onLane('resumeLane', lane, [code]);
  }

  /**
   * Takes a free or expired lease under a new token; its current owner gets the running one again. Null: another owner
   * has it.
   */
  async takeLease(lane: LaneId, owner: string, leaseMs: number): Promise<on.LaneLease | null> {
    const { bookLimit } = this.#terms;
    const book = typeof bookLimit === 'number' ? 'on' : encodeBook(bookLimit);
    return readLease(lane, owner, await this.runner.run('takeLease', laneKey(lane), null, [owner, leaseMs, book]));
  }

  /** Null: another owner has it now. */
  async renewLease({ lane, owner, token }: on.LaneLease, leaseMs: number): Promise<on.LaneLease | null> {
    return readLease(lane, owner, await this.runner.run('renewLease', laneKey(lane), null, [owner, token, leaseMs]));
  }

  async releaseLease({ lane, owner, token }: on.LaneLease): Promise<void> {
    await this.runner.run('releaseLease', laneKey(lane), null, [owner, token]);
  }

  /** Accepts a job, once per idempotency key: PLANNED, with no steps yet. */
  submit(request: on.SubmitRequest): Promise<on.SubmitResult> {
    return submitJob(this.runner, request, this.#terms);
  }

  /** Accepts a job under an id that the submitter made and stored; a repeated call returns the same job. */
  submitNamed(request: on.SubmitNamedRequest): Promise<on.SubmitResult> {
    return submitNamedJob(this.runner, request, this.#terms);
  }

  /**
   * `submitNamed` for a job that is already planned and signed, together with the first transitions of its step, in one
   * write.
   */
  launchNamed(request: on.LaunchRequest): Promise<on.LaunchResult> {
    return launchNamedJob(this.runner, request, this.#terms);
  }

  /** AWAITING_APPROVAL -> PLANNED, for exactly these plan bounds, by a key other than the submitter's. */
  async approve(request: { jobId: string; floorsHash: string; approvedBy: string }): Promise<on.Transition> {
    return readTransition(await this.onJob('approve', request.jobId, [request.floorsHash, request.approvedBy]));
  }

  /**
   * AWAITING_APPROVAL -> REJECTED. After the first step, the worker revokes what the job left behind before it ends.
   */
  async reject({ jobId, failure }: { jobId: string; failure: JobFailure }): Promise<on.Transition> {
    return readTransition(await this.onJob('reject', jobId, [encodeFailure(failure)]));
  }

  /**
   * Becomes CANCELLED at once if no step has a nonce. Otherwise `cancelling`: the current step is voided, the worker
   * adds an attempt of kind `cancel`, and whichever attempt is mined decides.
   */
  async cancel(jobId: string): Promise<on.CancelResult> {
    return readCancel(await this.onJob('cancel', jobId, [encodeFailure(CANCELLED)]));
  }

  /** NEEDS_OPERATOR -> the state before it. */
  async resumeJob(jobId: string): Promise<on.Transition> {
    return readTransition(await this.onJob('resumeJob', jobId));
  }

  /**
   * NEEDS_OPERATOR -> CANCELLED. `minedNonce`: the chain's nonce at the latest block; the step's nonce must be below
   * it.
   */
  async abandonJob(request: { jobId: string; minedNonce: number; failure: JobFailure }): Promise<on.Transition> {
    const args = [request.minedNonce, encodeFailure(request.failure)];
    return readTransition(await this.onJob('abandonJob', request.jobId, args));
  }

  /** Trims what the bookkeeper has acknowledged of a lane's transactions, and returns how many are left. */
  trimBook(lane: LaneId): Promise<number> {
    return this.runner.within(trimAcknowledged(this.#redis, laneBookKey(nameLane(lane)), BOOK_GROUP));
  }

  /** How many events of these lanes' transactions wait for the bookkeeper: the most of any of them. */
  async readBookLength(lanes: readonly LaneId[]): Promise<number> {
    const lengths = lanes.map((lane) => this.#redis.xlen(laneBookKey(nameLane(lane))));
    return Math.max(0, ...(await this.runner.within(Promise.all(lengths))));
  }

  readLane(lane: LaneId): Promise<on.LaneStatus> {
    return this.runner.within(readLaneStatus(this.#redis, lane));
  }

  /** What the jobs of a lane spend today, UTC, of the assets with a daily limit: base units by asset. */
  readSpentToday(lane: LaneId): Promise<Record<string, string>> {
    return this.runner.within(this.#redis.hgetall(spentKey(lane, Math.floor(Date.now() / DAY_MS))));
  }

  /** Those of these lanes that another fleet has adopted, which this fleet therefore cannot use. */
  async findForeign(lanes: readonly LaneId[]): Promise<LaneId[]> {
    const statuses = await Promise.all(lanes.map((lane) => this.readLane(lane)));
    return statuses.flatMap(({ lane, fleet }) => (fleet === null || fleet === this.lanes.fleet ? [] : [lane]));
  }

  /** Every adopted lane of the fleet. */
  readLanes(): Promise<LaneId[]> {
    return this.runner.within(this.lanes.read());
  }

  /** Whether a job was submitted with this idempotency key, or is being submitted now. */
  async isKeyClaimed(keyId: string, key: string): Promise<boolean> {
    return (await this.runner.within(this.#redis.exists(idempotencyKey(hashIdempotencyKey(keyId, key))))) === 1;
  }

  async readJob(jobId: string): Promise<JobRecord | null> {
    return (await this.readJobs([jobId]))[0] ?? null;
  }

  /** @throws UnreadableJobError when one of them cannot be read */
  readJobs(jobIds: readonly string[]): Promise<(JobRecord | null)[]> {
    return this.runner.within(Promise.all(jobIds.map((jobId) => this.#read(jobId))));
  }

  /** The error in place of a job that cannot be read, so that the others do not depend on it. */
  readEachJob(jobIds: readonly string[]): Promise<(JobRecord | UnreadableJobError | null)[]> {
    return this.runner.within(Promise.all(jobIds.map((jobId) => orUnreadable(this.#read(jobId)))));
  }

  async #read(jobId: string): Promise<JobRecord | null> {
    const lane = this.lanes.find(jobId) ?? (await this.lanes.locate(jobId));
    return lane && this.#reader.read(lane, jobId);
  }

  /** Ids of the jobs that have not ended and do not wait for an operator, oldest first. */
  readOpenJobs(lane: LaneId): Promise<string[]> {
    return this.runner.within(this.#redis.zrange(openKey(lane), '0', '-1'));
  }

  /** Steps with a nonce that have not ended, by nonce. */
  readInFlight(lane: LaneId): Promise<on.InFlightStep[]> {
    return this.runner.within(readInFlightSteps(this.#redis, lane));
  }

  /** Newest first, over all the lanes given. */
  listJobs(request: on.ListJobsRequest): Promise<on.JobPage> {
    return this.runner.within(listJobs(this.#redis, request));
  }

  async #onLane(name: TransitionName, lane: LaneId, args: ScriptArgument[] = []): Promise<on.LaneTransition> {
    return readLaneTransition(await this.runner.run(name, laneKey(lane), null, args));
  }
}

function readLease(lane: LaneId, owner: string, [outcome, token, until]: readonly string[]): on.LaneLease | null {
  return outcome === 'done' ? { lane, owner, token: Number(token), untilMs: Number(until) } : null;
}

function assertNonce(nonce: number): void {
  if (!Number.isSafeInteger(nonce) || nonce < 0) throw new TypeError(`${nonce} is not a nonce`);
}
