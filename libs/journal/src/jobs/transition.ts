import type { JobTransactionFacts, SettledFacts } from '@tollgate/book-events';
import type { Hex } from '@tollgate/protocol';

import type {
  Attempt,
  JobFailure,
  JobRecord,
  JobState,
  JsonValue,
  LaneId,
  MinedAttempt,
  PlannedStep,
  WaitReason,
} from './job.js';
import type { UnreadableJobError } from './parse-job.js';

/** Why a transition was not made. Repeating it is pointless until something else has changed. */
export type RefusalReason =
  /** No such job: it was never accepted, or was deleted long after its end. */
  | 'not_found'
  /** Another process has the lane's lease: stop working on this lane. */
  | 'stale_token'
  | 'wrong_state'
  /** The job is at another step than the caller believes. */
  | 'wrong_step'
  /** The wallet was never adopted, or the journal's data was deleted since. */
  | 'not_adopted'
  /** Redis restarted or lost data: the lane waits for `thaw`. */
  | 'lane_frozen'
  | 'lane_paused'
  /** The limit of transactions in flight, or of open jobs, is reached; or an API key's share of the open jobs. */
  | 'lane_full'
  /** The lane has reached its limit of transactions that wait for the bookkeeper. */
  | 'outbox_full'
  /** One of submitter and worker reports to the book, and the other does not. */
  | 'settings_differ'
  /** A process works on the lane. */
  | 'lane_held'
  /** The lane has jobs that have not ended. */
  | 'lane_busy'
  /** A consumer has not read all events of the lane. */
  | 'events_unread'
  /** The job is about to end: no new step begins. */
  | 'ending'
  /** Another attempt was stored first, or the step is in another block by now. */
  | 'lost_race'
  /** The attempt has another nonce than the step. */
  | 'wrong_nonce'
  /** The plan's bounds are not the approved ones. */
  | 'floors_changed'
  /** The submitter of a job cannot approve it. */
  | 'own_job'
  /** The time for the approval, or between two readings of the chain, has not passed yet. */
  | 'too_early'
  /** The step's transaction is mined: nothing is left to cancel. */
  | 'too_late'
  /** Another job holds a lock that the plan needs. */
  | 'locked'
  /** More than the daily limit allows. */
  | 'over_limit'
  /** The nonce is not used on the chain: abandoning the job now would stop the lane. */
  | 'nonce_unused'
  | 'already_adopted'
  /** A step in flight has the nonce, or the chain does not wait for it. */
  | 'no_gap'
  /** A job had the nonce, or Redis may have lost one that had it. */
  | 'nonce_held'
  /** As many nonces as may be in an hour were filled by themselves. */
  | 'too_often'
  /** The chain has transactions of this wallet that the journal does not know. */
  | 'chain_ahead';

/** `unchanged`: the transition was already made, for instance because the reply to the first call was lost. */
export type Transition =
  | { outcome: 'done' | 'unchanged'; state: JobState }
  | { outcome: 'refused'; reason: RefusalReason; state: JobState | null };

/** What is compared with the nonce counter of a frozen lane. */
export interface ChainReading {
  pendingNonce: number;
  /** Of the latest block. */
  blockNumber: number;
  /** The run that `readLane` returned before the chain was read. */
  run: string;
}

/** How far apart two readings of the chain must be, where writes were lost. */
export interface BetweenReadings {
  nonceDoubtBlocks: number;
  nonceDoubtMs: number;
}

export type LaneTransition = { outcome: 'done' | 'unchanged' } | { outcome: 'refused'; reason: RefusalReason };

export type ReleaseResult =
  | { outcome: 'done'; endedJobs: number }
  /** No fleet has the account. */
  | { outcome: 'unchanged' }
  | { outcome: 'refused'; reason: Exclude<RefusalReason, 'lane_busy'> }
  /** `steps`: those that have a nonce and have not ended. */
  | { outcome: 'refused'; reason: 'lane_busy'; openJobs: number; steps: number; parkedJobs: number };

/** The right to write to a lane. Each new lease has a higher token, and only the highest is valid. */
export interface LaneLease {
  lane: LaneId;
  owner: string;
  token: number;
  /** On Redis's clock. */
  untilMs: number;
}

/** Identifies every write of a worker: the job, the step it believes to be current, and its lease. */
export interface StepWrite {
  jobId: string;
  stepIndex: number;
  /** The token of the lane's lease. */
  token: number;
}

/** What every submitter says of its job. */
type SubmittedJob = Pick<JobRecord, 'lane' | 'operation' | 'input' | 'wallet' | 'keyId'>;

export interface SubmitRequest extends SubmittedJob {
  /** As the client sent it; unique among the jobs of its `keyId`. Stored as a hash only. */
  idempotencyKey: string;
  /** Identifies the whole request. The same idempotency key with another fingerprint is a conflict. */
  fingerprint: string;
  retryOf?: string;
}

/** A job whose id the submitter made and stored: one id is one job, whatever later requests with that id contain. */
export interface SubmitNamedRequest extends SubmittedJob {
  /** Made by `createJobId` for the lane. */
  jobId: string;
  /** On Redis's clock: the job is not accepted after this time. Default: no limit. */
  latestMs?: number;
}

export type SubmitRefusal =
  | Extract<RefusalReason, 'not_adopted' | 'lane_full' | 'outbox_full' | 'settings_differ'>
  | 'late';

export type SubmitResult =
  /** `known`: an earlier request with this key created the job. */
  | { outcome: 'accepted' | 'known'; jobId: string; state: JobState }
  | { outcome: 'conflict' }
  /** The job of this key ended and was deleted: only the chain shows whether it did anything. */
  | { outcome: 'forgotten' }
  | { outcome: 'refused'; reason: SubmitRefusal };

/** A job that is already planned and signed, under the nonce that its lane is expected to give out next. */
export interface LaunchRequest extends SubmitNamedRequest, Pick<PutPlanRequest, 'plan' | 'floorsHash' | 'steps'> {
  token: number;
  maxInFlight: number;
  nonce: number;
  attempt: PutAttemptRequest['attempt'];
}

/** Null: skipped after a refusal. */
export interface LaunchResult {
  submitted: SubmitResult;
  reserved: ReserveResult | null;
  /** Refused if the reserved nonce is another one: these bytes are then discarded. */
  stored: Transition | null;
}

export interface PutPlanRequest extends StepWrite {
  /** The steps from `stepIndex` on; earlier ones stay as they were carried out. */
  steps: readonly PlannedStep[];
  plan: JsonValue;
  floorsHash: string;
  /** The job waits until exactly these plan bounds are approved. */
  needsApproval: boolean;
}

export interface ExpireApprovalRequest extends StepWrite {
  /** How long the job must have waited, on Redis's clock. */
  waitedMs: number;
  failure: JobFailure;
}

export interface BeginStepRequest extends PutPlanRequest {
  locks?: readonly string[] | undefined;
  spendings?: readonly Spending[] | undefined;
  /** If omitted, no nonce is taken. */
  maxInFlight?: number | undefined;
}

/** Null: not requested, or skipped after a refusal. */
export interface BeginStepResult {
  plan: Transition;
  lock: LockResult | null;
  spending: SpendingResult | null;
  reserved: ReserveResult | null;
}

export interface EndRequest extends StepWrite {
  failure: JobFailure;
  /** Steps that revoke what the job left behind. They run before it ends. */
  undo?: readonly PlannedStep[];
  /** Nothing was spent: the job's share of the daily limits is free again. */
  givesBackSpending: boolean;
}

export type ReserveResult =
  | { outcome: 'done' | 'unchanged'; nonce: number; state: JobState }
  | Extract<Transition, { outcome: 'refused' }>;

export interface PutAttemptRequest extends StepWrite {
  /** How many attempts the caller believes the step to have. */
  expectedAttempts: number;
  nonce: number;
  attempt: Pick<Attempt, 'kind' | 'hash' | 'maxFeePerGas' | 'maxPriorityFeePerGas'> & { raw: Hex };
}

export interface PutSignatureRequest extends StepWrite {
  /** `nextSignature` of the job. */
  number: number;
  /** The step that was signed: refused if the journal has another plan by now. */
  signed: PlannedStep;
  bytes: Hex;
}

export interface FinishSignatureRequest extends StepWrite {
  number: number;
  /** The chain shows, finally, that it can move nothing any more. */
  isVoid: boolean;
}

/** What the job left behind is undone once the nonce is used. */
export interface FailAttemptRequest extends MarkBroadcastRequest, Omit<EndRequest, 'undo'> {
  /** Also if an RPC server has accepted an attempt of the step, as `cancel` does. */
  evenIfSent?: boolean;
}

export interface DropCancelRequest extends MarkBroadcastRequest {
  failure: JobFailure;
}

export interface NoteWaitingRequest extends StepWrite {
  /** Null: it waits for nothing any more. */
  why: WaitReason | null;
  /** How long the caller has seen it wait for this, in milliseconds. */
  forMs: number;
}

export interface MarkBroadcastRequest extends StepWrite {
  hash: Hex;
}

export interface MarkMinedRequest extends StepWrite {
  mined: MinedAttempt;
}

export interface UnmineRequest extends StepWrite {
  /** The block that left the chain. */
  blockHash: Hex;
}

export interface FinishStepRequest extends StepWrite {
  /** The block that is deep enough. */
  blockHash: Hex;
  /** For the last step: steps that revoke what is left. They run before the job ends, which is FINAL in any case. */
  undo?: readonly PlannedStep[] | undefined;
}

export type FinishMinedRequest = MarkMinedRequest & Pick<FinishStepRequest, 'undo'> & Reported;

/** What is reported to the book of a transaction that is final. */
export type TransactionReport =
  | { type: 'job_transaction'; facts: JobTransactionFacts }
  | { type: 'settled'; facts: SettledFacts };

/** What the same script reports to the book; null or missing: nothing is reported. */
export interface Reported {
  report?: TransactionReport | null;
}

export type FailStepRequest = Omit<FinishStepRequest, 'undo'> & EndRequest & Reported;

export type ParkMinedRequest = Omit<FinishStepRequest, 'undo'> & { failure: JobFailure } & Reported;

/**
 * `cancelling`: a transaction is in flight; a transfer to the wallet itself competes for its nonce, and whichever is
 * mined decides.
 */
export type CancelResult =
  | { outcome: 'done' | 'unchanged' | 'cancelling'; state: JobState }
  | Extract<Transition, { outcome: 'refused' }>;

/** A share of a daily limit, in base units. `limit` null: only counted. */
export interface Spending {
  /** A token's address, or `native`. */
  asset: string;
  amount: bigint;
  limit: bigint | null;
}

export type SpendingResult =
  | Transition
  | { outcome: 'refused'; reason: 'over_limit'; state: JobState; asset: string; left: bigint };

export type LockResult = Transition | { outcome: 'refused'; reason: 'locked'; state: JobState; holder: string };

/** A step with a nonce that has not ended. */
export interface InFlightStep {
  jobId: string;
  stepIndex: number;
  nonce: number;
}

/** What a lane's own hash says. */
export interface LaneFields {
  lane: LaneId;
  /** The fleet that adopted the lane first; null: not adopted yet. */
  fleet: string | null;
  /** The next nonce the lane gives out; null: not adopted. */
  nextNonce: number | null;
  /** Why nothing new may be sent before the lane is compared with the chain; null: not frozen. */
  frozen: 'restarted' | 'lost' | 'chain_ahead' | null;
  paused: JobFailure | null;
  /** As the process that works on the lane saw it last; null: none, or not for long enough. */
  gap: LaneGap | null;
  /** Identifies this run of the server; `thaw` passes it to show during which run the chain was read. */
  run: string | null;
  /** `lastsMs`: how long it lasts from when it is taken or renewed. */
  lease: (Omit<LaneLease, 'lane'> & { lastsMs: number }) | null;
}

export interface LaneStatus extends LaneFields {
  openJobs: number;
  /** Steps with a nonce that are not mined. */
  unminedSteps: number;
  /** The highest sequence given to an event. */
  lastSequence: number;
}

/** The nonce that the chain wants and no step in flight has. */
export interface LaneGap {
  nonce: number;
  /** The step that had it; null: of no job that the journal has. */
  hadBy: { jobId: string; stepIndex: number } | null;
  /** The lane has never given it out, and Redis has lost nothing. */
  isUnheld: boolean;
}

/** A transfer of nothing to the wallet itself that uses the nonce of a gap. */
export interface FillRequest extends Pick<JobRecord, 'lane' | 'wallet'>, Pick<LaneGap, 'nonce'> {
  /** The API key of the operator who asks; or `console` or `worker`, which is reported to the book where there is one. */
  keyId: string;
  /** The job that had the nonce, as the caller has seen it. Refused where it is another one. */
  hadBy: string | null;
  /** The most fills of an hour; null: an operator asks for this one. */
  mostPerHour: number | null;
}

/** `jobId`: the job whose transaction uses the nonce: a new one, or the one that had it and is cancelled. */
export type FillResult =
  | { outcome: 'done' | 'unchanged'; jobId: string }
  | { outcome: 'refused'; reason: RefusalReason };

export interface ListJobsRequest {
  lanes: readonly LaneId[];
  keyId?: string | undefined;
  states?: readonly JobState[] | undefined;
  operation?: string | undefined;
  /** The name that they were submitted for. */
  wallet?: string | undefined;
  /** 1 to 200; default 50. */
  limit?: number;
  cursor?: string | undefined;
}

export interface JobPage {
  jobs: JobRecord[];
  /** Those of the page that cannot be read, whatever is asked for, unless they ended in a state that is not. */
  unreadable: UnreadableJobError[];
  /** Returns the next page; null after the last. */
  cursor: string | null;
}
