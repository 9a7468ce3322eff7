import type { JobFailure, JobRecord, JsonValue, LaneId } from './job.js';
import type {
  ApprovalScope,
  CancelResult,
  EndRequest,
  FinishStepRequest,
  InFlightStep,
  LaneLease,
  LaneStatus,
  LaneTransition,
  ListJobsRequest,
  LockResult,
  MarkBroadcastRequest,
  MarkMinedRequest,
  PutAttemptRequest,
  PutAttemptResult,
  PutPlanRequest,
  ReserveResult,
  Spending,
  SpendingResult,
  StepWrite,
  SubmitRequest,
  SubmitResult,
  Transition,
  UnmineRequest,
} from './transition.js';

/**
 * The jobs and what happened to them. Every transition is one atomic script that writes its event too, may be repeated,
 * and throws JournalUnavailableError when Redis cannot be trusted to have made it.
 */
export interface Journal {
  /** @throws JournalError, with a hint, when Redis is unfit: evicting, read-only, too old. */
  open(): Promise<void>;

  /** Seeds a lane's nonce counter from the chain's pending nonce; the only way a counter begins. */
  adopt(lane: LaneId, chain: { pendingNonce: number }): Promise<LaneTransition>;
  /** Says that the chain's pending nonce was compared after Redis had restarted; `chain_ahead` when it shows unknown transactions. */
  thaw(lane: LaneId, chain: { pendingNonce: number }): Promise<LaneTransition>;
  pauseLane(lane: LaneId, why: JobFailure): Promise<LaneTransition>;
  resumeLane(lane: LaneId): Promise<LaneTransition>;
  readLane(lane: LaneId): Promise<LaneStatus>;
  /** Every lane that was ever adopted. */
  readLanes(): Promise<LaneId[]>;

  /** Takes a free or ended lease; the same owner gets its own again. Null: somebody else has it. */
  takeLease(lane: LaneId, owner: string, leaseMs: number): Promise<LaneLease | null>;
  renewLease(lease: LaneLease, leaseMs: number): Promise<LaneLease | null>;
  releaseLease(lease: LaneLease): Promise<void>;

  /** -> PLANNED, or AWAITING_APPROVAL later by `putPlan`. */
  submit(request: SubmitRequest): Promise<SubmitResult>;
  /** AWAITING_APPROVAL -> PLANNED, for exactly these floors. */
  approve(request: { jobId: string; floorsHash: string; approvedBy: string }): Promise<Transition>;
  /** AWAITING_APPROVAL -> REJECTED. */
  reject(request: { jobId: string; rejectedBy: string; failure: JobFailure }): Promise<Transition>;
  /** Before RESERVED: CANCELLED at once. After: the worker puts an attempt of kind `cancel`. */
  cancel(jobId: string): Promise<CancelResult>;

  /** PLANNED, AWAITING_APPROVAL, or RESERVED without an attempt: quotes are refreshed. */
  putPlan(request: PutPlanRequest): Promise<Transition>;
  /**
   * PLANNED: ends (or begins to undo) the job, with its pending ending where it has one. RESERVED without an attempt: the
   * job gets an ending, and its nonce must be used by an attempt of kind `cancel`.
   */
  failPlan(request: EndRequest): Promise<Transition>;
  /** PLANNED -> the next step, or the end: what the step would do is done. */
  skipStep(request: StepWrite): Promise<Transition>;
  /** PLANNED -> RESERVED with the wallet's next nonce; afterwards always that nonce. */
  reserve(request: StepWrite & { maxInFlight: number }): Promise<ReserveResult>;
  /** RESERVED -> SIGNED with the first attempt; further attempts by compare-and-set on their count. */
  putAttempt(request: PutAttemptRequest): Promise<PutAttemptResult>;
  /** SIGNED -> BROADCAST; notes for each attempt once that an RPC took it. */
  markBroadcast(request: MarkBroadcastRequest): Promise<Transition>;
  /** SIGNED or BROADCAST -> MINED. */
  markMined(request: MarkMinedRequest): Promise<Transition>;
  /** MINED -> BROADCAST: the block left the chain. */
  unmine(request: UnmineRequest): Promise<Transition>;
  /** MINED, deep enough and successful -> the next step, or the job's end. A mined `cancel` attempt ends it as its ending says. */
  finishStep(request: FinishStepRequest): Promise<Transition>;
  /** MINED, deep enough and failed -> REVERTED, or the first step of `undo`. */
  failStep(request: EndRequest): Promise<Transition>;
  /** Any open state -> NEEDS_OPERATOR. */
  needOperator(request: StepWrite & { failure: JobFailure }): Promise<Transition>;
  /** NEEDS_OPERATOR -> the state before. */
  resumeJob(jobId: string): Promise<Transition>;
  /** NEEDS_OPERATOR -> CANCELLED. `minedNonce`: the chain's nonce at the latest block; the step's nonce must be below. */
  abandonJob(request: { jobId: string; minedNonce: number; failure: JobFailure }): Promise<Transition>;

  /** Writes a detail unless it is there; the answer is what is stored. */
  putDetail(request: { jobId: string; token: number; name: string; value: JsonValue }): Promise<JsonValue | null>;
  /** Counts against the day's limits, all or none; replaces what the job had counted before. */
  reserveSpending(request: StepWrite & { spendings: readonly Spending[] }): Promise<SpendingResult>;
  giveBackSpending(request: StepWrite): Promise<Transition>;
  /** All or none; held until the job ends. */
  lockApprovals(request: StepWrite & { scopes: readonly ApprovalScope[] }): Promise<LockResult>;

  readJob(jobId: string): Promise<JobRecord | null>;
  readJobs(jobIds: readonly string[]): Promise<(JobRecord | null)[]>;
  /** Ids of the jobs that are neither ended nor waiting for an operator, oldest first. */
  readOpenJobs(lane: LaneId): Promise<string[]>;
  /** Steps with a nonce whose end is not known, by nonce. */
  readInFlight(lane: LaneId): Promise<InFlightStep[]>;
  /** Newest first, over all the lanes given. */
  listJobs(request: ListJobsRequest): Promise<{ jobs: JobRecord[]; cursor: string | null }>;
}
