import { AcknowledgedCommands, type Durability, explainRedisRefusals } from '@tollgate/redis';
import type { Cluster, Redis } from 'ioredis';

import { encodeFailure } from '../jobs/encode-job.js';
import type { JobFailure, JobRecord, LaneId } from '../jobs/job.js';
import { DEFAULT_FLEET, hashIdempotencyKey, idempotencyKey, submittedKey } from '../jobs/keys.js';
import type { UnreadableJobError } from '../jobs/parse-job.js';
import { readCancel, readTransition } from '../jobs/read-reply.js';
import type * as on from '../jobs/transition.js';
import { Outbox } from '../outbox/outbox.js';
import { TransitionRunner } from '../transitions/transition-runner.js';
import { JobReader, listJobs, orUnreadable } from './job-reader.js';
import { DAY_MS, LaneJournal } from './lane-journal.js';
import { LaneRegistry } from './lane-registry.js';
import { launchNamedJob, submitJob, submitNamedJob, type SubmitTerms } from './submit-job.js';

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

const CANCELLED: JobFailure = {
  code: 'JOB_CANCELLED',
  message: 'The job was cancelled.',
  suggestion: 'If it is wanted after all, submit it again under a new idempotency key.',
};

/**
 * Jobs and their transitions. Every transition is one atomic script that also writes its event, and may be repeated.
 * All throw StoreUnavailableError when it is unknown whether Redis made the transition.
 */
export class Journal extends LaneJournal {
  /** The events of the jobs. */
  readonly outbox: Outbox;
  readonly #reader: JobReader;
  readonly #terms: SubmitTerms;

  constructor(options: JournalOptions) {
    const { redis, timeoutMs = 3000, retentionMs = 7 * DAY_MS, jobsKept = 20_000, eventsKept = 10_000 } = options;
    const { fleet = DEFAULT_FLEET, durability, maxOpenJobs = 10_000, bookLimit } = options;
    const acknowledged = durability ? new AcknowledgedCommands(redis, durability) : undefined;
    super(
      redis,
      new TransitionRunner({ redis, fleet, timeoutMs, retentionMs, jobsKept, eventsKept, acknowledged }),
      new LaneRegistry(redis, fleet),
      bookLimit,
    );
    this.#reader = new JobReader(redis, acknowledged);
    this.outbox = new Outbox(redis, this.runner);
    this.#terms = { maxOpenJobs, bookLimit };
  }

  /**
   * Checks this Redis, loads the scripts, and freezes every lane whose server has restarted since.
   * @throws StoreError, with a hint, when Redis is unfit: evicting, read-only, too old.
   */
  open(): Promise<void> {
    return explainRedisRefusals(this.redis, this.runner.restore());
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

  /** SIGNED or BROADCAST, as it is: the worker signs the transaction again with higher fees, once. */
  async speedUp(jobId: string): Promise<on.Transition> {
    return readTransition(await this.onJob('speedUp', jobId));
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

  /** Whether a job was submitted with this idempotency key, or is being submitted now. */
  async isKeyClaimed(keyId: string, key: string): Promise<boolean> {
    return (await this.runner.within(this.redis.exists(idempotencyKey(hashIdempotencyKey(keyId, key))))) === 1;
  }

  /** Whether the lane has a job of this idempotency key; a claim alone may have made none. */
  async hasJobOf(lane: LaneId, keyId: string, key: string): Promise<boolean> {
    const hashed = hashIdempotencyKey(keyId, key);
    return (await this.runner.within(this.redis.hexists(submittedKey(lane), hashed))) === 1;
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

  /** Newest first, over all the lanes given. */
  listJobs(request: on.ListJobsRequest): Promise<on.JobPage> {
    return this.runner.within(listJobs(this.redis, request));
  }
}
