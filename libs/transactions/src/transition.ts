import type { Hex } from '@tollgate/protocol';

import type { Attempt, JobFailure, JobState, JsonValue, LaneId, MinedAttempt, PlannedStep } from './job.js';

/** Why a transition was not made. None of these is worth repeating before something else has changed. */
export type RefusalReason =
  /** No such job: it was never accepted, or ended so long ago that it is forgotten. */
  | 'not_found'
  /** The lane's lease went to somebody else: stop working on this lane. */
  | 'stale_token'
  | 'wrong_state'
  /** The job is at another step than the caller believes. */
  | 'wrong_step'
  /** The wallet was never adopted, or the journal was wiped since. */
  | 'not_adopted'
  /** Redis restarted or lost data: the lane waits for `thaw`. */
  | 'lane_frozen'
  | 'lane_paused'
  /** As many transactions are in flight, or jobs open, as the settings allow. */
  | 'lane_full'
  /** Some process works on the lane. */
  | 'lane_held'
  /** The lane has jobs that have not ended. */
  | 'lane_busy'
  /** A consumer has not taken all events of the lane. */
  | 'events_unread'
  /** The job is about to end: no new step begins. */
  | 'ending'
  /** Another attempt was stored first, or the step stands in another block by now. */
  | 'lost_race'
  /** The attempt has another nonce than the step. */
  | 'wrong_nonce'
  /** The plan's floors are not the ones that were agreed to. */
  | 'floors_changed'
  /** Who submits a job cannot approve it. */
  | 'own_job'
  /** Somebody may still agree to the job. */
  | 'too_early'
  /** The step's transaction is mined: nothing is left to cancel. */
  | 'too_late'
  /** Another job holds the approvals of this token and spender. */
  | 'locked'
  /** More than may be spent on this day. */
  | 'over_limit'
  /** The nonce is not used on the chain: who abandons it now stops the lane. */
  | 'nonce_unused'
  | 'already_adopted'
  /** The chain has transactions of this wallet that the journal does not know. */
  | 'chain_ahead';

/** `unchanged`: it was so already, for instance because the reply to the first call was lost. */
export type Transition =
  | { outcome: 'done' | 'unchanged'; state: JobState }
  | { outcome: 'refused'; reason: RefusalReason; state: JobState | null };

export type LaneTransition = { outcome: 'done' | 'unchanged' } | { outcome: 'refused'; reason: RefusalReason };

export type ReleaseResult =
  | { outcome: 'done'; endedJobs: number }
  /** The account has no role. */
  | { outcome: 'unchanged' }
  | { outcome: 'refused'; reason: Exclude<RefusalReason, 'lane_busy'> }
  /** `steps`: those with a nonce and no end. */
  | { outcome: 'refused'; reason: 'lane_busy'; openJobs: number; steps: number; parkedJobs: number };

/** The right to write to a lane. Whoever took the lease later has the higher token, and the only one that counts. */
export interface LaneLease {
  lane: LaneId;
  owner: string;
  token: number;
  /** On Redis's clock. */
  untilMs: number;
}

/** What a worker names with every write: the job, the step it believes to work on, and its lease. */
export interface StepWrite {
  jobId: string;
  stepIndex: number;
  /** Of the lane's lease. */
  token: number;
}

export interface SubmitRequest {
  lane: LaneId;
  operation: string;
  input: JsonValue;
  wallet: string;
  keyId: string;
  /** As the client sent it; unique among the jobs of its `keyId`. Kept as a hash only. */
  idempotencyKey: string;
  /** Names everything that was asked. The same idempotency key with another fingerprint is a conflict. */
  fingerprint: string;
  retryOf?: string;
}

/** Of a job whose id its submitter has made and kept: one id is one job, whatever else is asked under it. */
export interface SubmitNamedRequest {
  lane: LaneId;
  /** As `createJobId` makes it for the lane. */
  jobId: string;
  operation: string;
  input: JsonValue;
  wallet: string;
  keyId: string;
  /** On Redis's clock: later it is not accepted any more. Default: always. */
  latestMs?: number;
}

export type SubmitResult =
  /** `known`: an earlier request with this key made the job. */
  | { outcome: 'accepted' | 'known'; jobId: string; state: JobState }
  | { outcome: 'conflict' }
  /** The job of this key ended and is forgotten: whether it did anything can only be read from the chain. */
  | { outcome: 'forgotten' }
  | { outcome: 'refused'; reason: 'not_adopted' | 'lane_full' | 'late' };

/** A job that is planned and signed already, under the nonce that its lane will give out next as far as is known. */
export interface LaunchRequest extends SubmitNamedRequest, Pick<PutPlanRequest, 'plan' | 'floorsHash' | 'steps'> {
  token: number;
  maxInFlight: number;
  nonce: number;
  attempt: PutAttemptRequest['attempt'];
}

/** Null: not done after a refusal. */
export interface LaunchResult {
  submitted: SubmitResult;
  reserved: ReserveResult | null;
  /** Refused where the nonce is another by now: then these bytes are forgotten. */
  stored: Transition | null;
}

export interface PutPlanRequest extends StepWrite {
  /** The steps from `stepIndex` on; earlier ones stay as they were carried out. */
  steps: readonly PlannedStep[];
  plan: JsonValue;
  floorsHash: string;
  /** The job waits until somebody has approved exactly these floors. */
  needsApproval: boolean;
}

export interface ExpireApprovalRequest extends StepWrite {
  /** How long the job must have waited, on Redis's clock. */
  waitedMs: number;
  failure: JobFailure;
}

export interface BeginStepRequest extends PutPlanRequest {
  approvals?: readonly ApprovalScope[] | undefined;
  spendings?: readonly Spending[] | undefined;
  /** Left out: no nonce is taken. */
  maxInFlight?: number | undefined;
}

/** Null: not asked for, or not done after a refusal. */
export interface BeginStepResult {
  plan: Transition;
  lock: LockResult | null;
  spending: SpendingResult | null;
  reserved: ReserveResult | null;
}

export interface EndRequest extends StepWrite {
  failure: JobFailure;
  /** Steps that take back what the job left behind; they are carried out before it ends. */
  undo?: readonly PlannedStep[];
  /** Nothing was spent: the job's part of the day's limits is free again. */
  givesBackSpending: boolean;
}

export type ReserveResult =
  { outcome: 'done' | 'unchanged'; nonce: number; state: JobState } | Extract<Transition, { outcome: 'refused' }>;

export interface PutAttemptRequest extends StepWrite {
  /** How many attempts the step has in the caller's eyes. */
  expectedAttempts: number;
  nonce: number;
  attempt: Pick<Attempt, 'kind' | 'hash' | 'maxFeePerGas' | 'maxPriorityFeePerGas'> & { raw: Hex };
}

/** What was left behind is undone once the nonce is used. */
export type FailAttemptRequest = MarkBroadcastRequest & Omit<EndRequest, 'undo'>;

export interface MarkBroadcastRequest extends StepWrite {
  hash: Hex;
}

export interface MarkMinedRequest extends StepWrite {
  mined: MinedAttempt;
}

export interface UnmineRequest extends StepWrite {
  /** The block that is no longer part of the chain. */
  blockHash: Hex;
}

export interface FinishStepRequest extends StepWrite {
  /** The block whose depth suffices. */
  blockHash: Hex;
  /** Of the last step: steps that take back what is left; they are carried out before the job ends, as FINAL in any case. */
  undo?: readonly PlannedStep[] | undefined;
}

export type FinishMinedRequest = MarkMinedRequest & Pick<FinishStepRequest, 'undo'>;

export type FailStepRequest = Omit<FinishStepRequest, 'undo'> & EndRequest;

/** `cancelling`: a transaction is in flight; a transfer to the wallet itself takes its nonce, and whichever mines decides. */
export type CancelResult =
  { outcome: 'done' | 'unchanged' | 'cancelling'; state: JobState } | Extract<Transition, { outcome: 'refused' }>;

/** A part of a day's limit, in base units. `limit` null: only counted. */
export interface Spending {
  /** A token's address, or `native`. */
  asset: string;
  amount: bigint;
  limit: bigint | null;
}

export type SpendingResult =
  Transition | { outcome: 'refused'; reason: 'over_limit'; state: JobState; asset: string; left: bigint };

export interface ApprovalScope {
  token: Hex;
  spender: Hex;
}

export type LockResult = Transition | { outcome: 'refused'; reason: 'locked'; state: JobState; holder: string };

/** A step with a nonce whose end is not known yet. */
export interface InFlightStep {
  jobId: string;
  stepIndex: number;
  nonce: number;
}

export interface LaneStatus {
  lane: LaneId;
  /** What it was first adopted for; null: nothing yet. */
  fleet: string | null;
  /** The next nonce the lane gives out; null: not adopted. */
  nextNonce: number | null;
  /** Why nothing new may be sent until the chain was compared; null: all is well. */
  frozen: 'restarted' | 'lost' | 'chain_ahead' | null;
  paused: JobFailure | null;
  /** Names this run of the server; `thaw` says with it under which run the chain was asked. */
  run: string | null;
  lease: { owner: string; token: number; untilMs: number } | null;
  openJobs: number;
  /** Steps with a nonce that are not mined. */
  unminedSteps: number;
  /** Highest sequence that was given to an event. */
  lastSequence: number;
}

export interface ListJobsRequest {
  lanes: readonly LaneId[];
  keyId?: string;
  states?: readonly JobState[];
  operation?: string;
  /** 1 to 200; default 50. */
  limit?: number;
  cursor?: string;
}
