import type { Cluster, Redis } from 'ioredis';

import { encodeFailure, encodeJson, encodeStep } from './encode-job.js';
import type { JobFailure, JobRecord, JsonValue, LaneId } from './job.js';
import type { ScriptName } from './journal-scripts.js';
import { jobKey, laneKey, openKey } from './keys.js';
import { LaneRegistry } from './lane-registry.js';
import { readInFlightSteps, readLaneStatus } from './lane-status.js';
import { listJobs, readJob } from './list-jobs.js';
import { Outbox } from './outbox.js';
import { readCancel, readLaneTransition, readLock, readReserve, readSpending, readTransition } from './read-reply.js';
import { ScriptRunner, type ScriptArgument } from './script-runner.js';
import { listSpendings, nameScope } from './spending.js';
import { submitJob } from './submit-job.js';
import type * as on from './transition.js';

export interface JournalOptions {
  redis: Redis | Cluster;
  /** How long an ended job is kept at most. Default 7 days. */
  retentionMs?: number;
  /** How many ended jobs a lane keeps at most, of some 4 KiB each. Default 20,000. */
  jobsKept?: number;
  /** How many events a lane keeps for readers that come back, all consumers having passed them. Default 10,000. */
  eventsKept?: number;
  /** How long an idempotency key is remembered at least. Default 7 days. */
  idempotencyMs?: number;
  /** How many jobs may be open in a lane. Default 10,000. */
  maxOpenJobs?: number;
  /** How long an operation waits for Redis. Default 3 seconds. */
  timeoutMs?: number;
}

const DAY_MS = 86_400_000;

const CANCELLED: JobFailure = {
  code: 'JOB_CANCELLED',
  message: 'The job was cancelled.',
  suggestion: 'Submit it again under a new idempotency key if it is wanted after all.',
};

const IN_DOUBT: JobFailure = {
  code: 'JOURNAL_LOST_WRITES',
  message:
    'Redis lost writes, and the wallet has sent transactions that the journal does not know: this job may be one.',
  suggestion: "Compare the job with the wallet's latest transactions, then resume or abandon it.",
};

/**
 * The jobs and what happened to them. Every transition is one atomic script that writes its event too and may be
 * repeated; all throw JournalUnavailableError when Redis cannot be trusted to have made it.
 */
export class Journal {
  /** What the jobs report. */
  readonly outbox: Outbox;
  readonly #redis: Redis | Cluster;
  readonly #runner: ScriptRunner;
  readonly #lanes: LaneRegistry;
  readonly #terms: { idempotencyMs: number; maxOpenJobs: number };

  constructor(options: JournalOptions) {
    const { redis, timeoutMs = 3000, retentionMs = 7 * DAY_MS, jobsKept = 20_000, eventsKept = 10_000 } = options;
    this.#redis = redis;
    this.#lanes = new LaneRegistry(redis);
    this.#runner = new ScriptRunner({ redis, timeoutMs, retentionMs, jobsKept, eventsKept });
    this.outbox = new Outbox(redis, this.#runner);
    this.#terms = { idempotencyMs: options.idempotencyMs ?? 7 * DAY_MS, maxOpenJobs: options.maxOpenJobs ?? 10_000 };
  }

  /**
   * Looks at this Redis, loads the scripts, and freezes every lane whose server has restarted since.
   * @throws JournalError, with a hint, when Redis is unfit: evicting, read-only, too old.
   */
  open(): Promise<void> {
    return this.#runner.within(this.#runner.restore());
  }

  /**
   * Seeds a lane's nonce counter from the chain's pending nonce; the only way a counter begins. Again on a frozen or
   * paused lane: the counter goes to where the chain is, and open jobs that may have been sent wait for an operator.
   */
  async adopt(lane: LaneId, { pendingNonce }: { pendingNonce: number }): Promise<on.LaneTransition> {
    assertNonce(pendingNonce);
    await this.#runner.within(this.#lanes.register(lane).then(() => this.#runner.guard(lane)));
    return this.#onLane('adopt', lane, [pendingNonce, encodeFailure(IN_DOUBT)]);
  }

  /**
   * Lets a frozen lane go on, the chain's pending nonce being no higher than the counter. `run`: the one that `readLane`
   * named before the chain was asked.
   */
  async thaw(lane: LaneId, { pendingNonce, run }: { pendingNonce: number; run: string }): Promise<on.LaneTransition> {
    assertNonce(pendingNonce);
    return this.#onLane('thaw', lane, [pendingNonce, run]);
  }

  /** No new nonce is given out until the lane is resumed; what is in flight goes on. */
  pauseLane(lane: LaneId, why: JobFailure): Promise<on.LaneTransition> {
    return this.#onLane('pauseLane', lane, [encodeFailure(why)]);
  }

  resumeLane(lane: LaneId): Promise<on.LaneTransition> {
    return this.#onLane('resumeLane', lane);
  }

  /** Takes a free or ended lease under a new token; its owner gets the running one again. Null: somebody else has it. */
  async takeLease(lane: LaneId, owner: string, leaseMs: number): Promise<on.LaneLease | null> {
    return readLease(lane, owner, await this.#runner.run('takeLease', [laneKey(lane)], [owner, leaseMs]));
  }

  /** Null: it is somebody else's now. */
  async renewLease({ lane, owner, token }: on.LaneLease, leaseMs: number): Promise<on.LaneLease | null> {
    return readLease(lane, owner, await this.#runner.run('renewLease', [laneKey(lane)], [owner, token, leaseMs]));
  }

  async releaseLease({ lane, owner, token }: on.LaneLease): Promise<void> {
    await this.#runner.run('releaseLease', [laneKey(lane)], [owner, token]);
  }

  /** Accepts a job, once per idempotency key: PLANNED, with no steps yet. */
  submit(request: on.SubmitRequest): Promise<on.SubmitResult> {
    return submitJob(this.#runner, request, this.#terms);
  }

  /** AWAITING_APPROVAL -> PLANNED, for exactly these floors, by another key than the submitter's. */
  async approve(request: { jobId: string; floorsHash: string; approvedBy: string }): Promise<on.Transition> {
    return readTransition(await this.#onJob('approve', request.jobId, [request.floorsHash, request.approvedBy]));
  }

  /** AWAITING_APPROVAL -> REJECTED; after a first step the worker takes back what that left behind. */
  async reject({ jobId, failure }: { jobId: string; failure: JobFailure }): Promise<on.Transition> {
    return readTransition(await this.#onJob('reject', jobId, [encodeFailure(failure)]));
  }

  /**
   * CANCELLED at once where nothing has a nonce yet. Else `cancelling`: the current step is voided, the worker puts an
   * attempt of kind `cancel`, and whichever of its attempts mines decides.
   */
  async cancel(jobId: string): Promise<on.CancelResult> {
    return readCancel(await this.#onJob('cancel', jobId, [encodeFailure(CANCELLED)]));
  }

  /** PLANNED, AWAITING_APPROVAL, or RESERVED without an attempt: the steps from the current one on are replaced. */
  async putPlan(request: on.PutPlanRequest): Promise<on.Transition> {
    const { steps, plan, floorsHash, needsApproval } = request;
    const args = [floorsHash, needsApproval ? 1 : 0, encodeJson(plan), ...steps.map(encodeStep)];
    return readTransition(await this.#onStep('putPlan', request, args));
  }

  /**
   * PLANNED: ends the job, as its ending says where it has one, or begins to undo it. RESERVED without an attempt: the
   * step is voided, and its nonce must be used by an attempt of kind `cancel`.
   */
  async failPlan(request: on.EndRequest): Promise<on.Transition> {
    return readTransition(await this.#onStep('failPlan', request, listEnd(request)));
  }

  /** PLANNED -> the next step, or the end: what the step would do is done already. */
  async skipStep(request: on.StepWrite): Promise<on.Transition> {
    return readTransition(await this.#onStep('skipStep', request));
  }

  /** PLANNED -> RESERVED with the wallet's next nonce; afterwards always that nonce. */
  async reserve(request: on.StepWrite & { maxInFlight: number }): Promise<on.ReserveResult> {
    return readReserve(await this.#onStep('reserve', request, [request.maxInFlight]));
  }

  /** RESERVED -> SIGNED with the first attempt; further ones by compare-and-set on their number. */
  async putAttempt(request: on.PutAttemptRequest): Promise<on.Transition> {
    const { expectedAttempts, nonce, attempt } = request;
    const { kind, hash, maxFeePerGas, maxPriorityFeePerGas, raw } = attempt;
    const fees = `${maxFeePerGas} ${maxPriorityFeePerGas}`;
    const args = [expectedAttempts, nonce, kind, hash.toLowerCase(), fees, raw];
    return readTransition(await this.#onStep('putAttempt', request, args));
  }

  /**
   * SIGNED, and no RPC ever takes these bytes: the step is voided, and an attempt of kind `cancel` must use its nonce
   * before the job ends with the failure.
   */
  async failAttempt({ hash, ...request }: on.FailAttemptRequest): Promise<on.Transition> {
    const args = [hash.toLowerCase(), encodeFailure(request.failure), request.givesBackSpending ? 1 : 0];
    return readTransition(await this.#onStep('failAttempt', request, args));
  }

  /** SIGNED -> BROADCAST; notes for each attempt once that an RPC took it. */
  async markBroadcast(request: on.MarkBroadcastRequest): Promise<on.Transition> {
    return readTransition(await this.#onStep('markBroadcast', request, [request.hash.toLowerCase()]));
  }

  /** SIGNED or BROADCAST -> MINED; again when it is found in another block. */
  async markMined(request: on.MarkMinedRequest): Promise<on.Transition> {
    const { hash, blockNumber, blockHash } = request.mined;
    const args = [hash.toLowerCase(), blockNumber, blockHash.toLowerCase()];
    return readTransition(await this.#onStep('markMined', request, args));
  }

  /** MINED -> BROADCAST: that block left the chain. */
  async unmine(request: on.UnmineRequest): Promise<on.Transition> {
    return readTransition(await this.#onStep('unmine', request, [request.blockHash.toLowerCase()]));
  }

  /** MINED, deep enough, successful -> the next step, or the end. A mined `cancel` ends the job as its ending says. */
  async finishStep(request: on.FinishStepRequest): Promise<on.Transition> {
    const args = [request.blockHash.toLowerCase(), ...(request.undo ?? []).map(encodeStep)];
    return readTransition(await this.#onStep('finishStep', request, args));
  }

  /** MINED, deep enough, failed -> REVERTED, or the first step of `undo`. */
  async failStep(request: on.FailStepRequest): Promise<on.Transition> {
    const args = [request.blockHash.toLowerCase(), ...listEnd(request)];
    return readTransition(await this.#onStep('failStep', request, args));
  }

  /** Any open state -> NEEDS_OPERATOR. */
  async needOperator(request: on.StepWrite & { failure: JobFailure }): Promise<on.Transition> {
    return readTransition(await this.#onStep('needOperator', request, [encodeFailure(request.failure)]));
  }

  /** NEEDS_OPERATOR -> the state before. */
  async resumeJob(jobId: string): Promise<on.Transition> {
    return readTransition(await this.#onJob('resumeJob', jobId));
  }

  /** NEEDS_OPERATOR -> CANCELLED. `minedNonce`: the chain's nonce at the latest block; the step's must be below it. */
  async abandonJob(request: { jobId: string; minedNonce: number; failure: JobFailure }): Promise<on.Transition> {
    const args = [request.minedNonce, encodeFailure(request.failure)];
    return readTransition(await this.#onJob('abandonJob', request.jobId, args));
  }

  /** Writes a detail unless it is there, and answers what is stored; null when the job takes none. */
  async putDetail(request: {
    jobId: string;
    token: number;
    name: string;
    value: JsonValue;
  }): Promise<JsonValue | null> {
    const args = [request.token, request.name, encodeJson(request.value)];
    const [outcome, stored = 'null'] = await this.#onJob('putDetail', request.jobId, args);
    return outcome === 'done' ? (JSON.parse(stored) as JsonValue) : null;
  }

  /** Counts against the day's limits, all or none; replaces what the job had counted before. */
  async reserveSpending(request: on.StepWrite & { spendings: readonly on.Spending[] }): Promise<on.SpendingResult> {
    return readSpending(await this.#onStep('reserveSpending', request, listSpendings(request.spendings)));
  }

  async giveBackSpending(request: on.StepWrite): Promise<on.Transition> {
    return readTransition(await this.#onStep('giveBackSpending', request));
  }

  /** Keeps other jobs from these allowances until the job ends; all or none. */
  async lockApprovals(request: on.StepWrite & { scopes: readonly on.ApprovalScope[] }): Promise<on.LockResult> {
    return readLock(await this.#onStep('lockApprovals', request, request.scopes.map(nameScope)));
  }

  readLane(lane: LaneId): Promise<on.LaneStatus> {
    return this.#runner.within(readLaneStatus(this.#redis, lane));
  }

  /** Every lane that was ever adopted. */
  readLanes(): Promise<LaneId[]> {
    return this.#runner.within(this.#lanes.read());
  }

  readJob(jobId: string): Promise<JobRecord | null> {
    const read = async (): Promise<JobRecord | null> => {
      const lane = await this.#lanes.locate(jobId);
      return lane && readJob(this.#redis, lane, jobId);
    };
    return this.#runner.within(read());
  }

  readJobs(jobIds: readonly string[]): Promise<(JobRecord | null)[]> {
    return Promise.all(jobIds.map((jobId) => this.readJob(jobId)));
  }

  /** Ids of the jobs that are neither ended nor waiting for an operator, oldest first. */
  readOpenJobs(lane: LaneId): Promise<string[]> {
    return this.#runner.within(this.#redis.zrange(openKey(lane), '0', '-1'));
  }

  /** Steps with a nonce and no end yet, by nonce. */
  readInFlight(lane: LaneId): Promise<on.InFlightStep[]> {
    return this.#runner.within(readInFlightSteps(this.#redis, lane));
  }

  /** Newest first, over all the lanes given. */
  listJobs(request: on.ListJobsRequest): Promise<{ jobs: JobRecord[]; cursor: string | null }> {
    return this.#runner.within(listJobs(this.#redis, request));
  }

  async #onLane(name: ScriptName, lane: LaneId, args: ScriptArgument[] = []): Promise<on.LaneTransition> {
    return readLaneTransition(await this.#runner.run(name, [laneKey(lane)], args));
  }

  async #onJob(name: ScriptName, jobId: string, args: ScriptArgument[] = []): Promise<string[]> {
    const lane = await this.#runner.within(this.#lanes.locate(jobId));
    if (!lane) return ['refused', 'not_found'];
    return this.#runner.run(name, [laneKey(lane), jobKey(lane, jobId)], args);
  }

  #onStep(name: ScriptName, write: on.StepWrite, args: ScriptArgument[] = []): Promise<string[]> {
    return this.#onJob(name, write.jobId, [write.token, write.stepIndex, ...args]);
  }
}

function listEnd({ failure, givesBackSpending, undo = [] }: on.EndRequest): ScriptArgument[] {
  return [encodeFailure(failure), givesBackSpending ? 1 : 0, ...undo.map(encodeStep)];
}

function readLease(lane: LaneId, owner: string, [outcome, token, until]: readonly string[]): on.LaneLease | null {
  return outcome === 'done' ? { lane, owner, token: Number(token), untilMs: Number(until) } : null;
}

function assertNonce(nonce: number): void {
  if (!Number.isSafeInteger(nonce) || nonce < 0) throw new TypeError(`${nonce} is no nonce`);
}
