import {
  FINAL_STATES,
  JOB_STATES,
  OPEN_STATES,
  type FinalState,
  type Hex,
  type JobEventType,
  type JobFailure,
  type JobState,
  type OpenState,
  type PaymentToSign,
  type WaitingCode,
} from '@tollgate/protocol';

/** One wallet on one chain. The address is lower case. */
export interface LaneId {
  chainId: number;
  address: Hex;
}

export { JOB_STATES };
export type { FinalState, JobFailure, JobState, OpenState };

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue | undefined };

/** One transaction of a plan, or one signed payment, as data. Amounts are base units. */
export interface PlannedStep {
  /** For display: `Approve exactly 1 USDC for 0x…`. */
  label: string;
  to: Hex;
  data: Hex;
  /** Native coin sent with the transaction, in wei. */
  value: bigint;
  gas: bigint;
  /** The step is this signature, and no transaction: `data` is empty, `value` and `gas` are zero, and it gets no nonce. */
  signs?: PaymentToSign;
  /** The step is skipped where this condition holds. The journal passes it on unread. */
  holdsIf?: JsonValue;
  /** Describes failures of a mined transaction other than a revert. The journal passes it on unread. */
  failures?: JsonValue;
}

/**
 * One signed transaction of a step. All attempts of a step share its nonce, so at most one of them is mined. `first`
 * and `replacement` are the step itself at rising fees; `cancel` is a zero-value transfer to the wallet itself.
 */
export interface Attempt {
  kind: 'first' | 'replacement' | 'cancel';
  hash: Hex;
  /** The signed bytes; null once the job has ended. */
  raw: Hex | null;
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
  signedAtMs: number;
  /** When an RPC server first accepted it; null while that is unknown. */
  sentAtMs: number | null;
}

/** The signature of a step that is no transaction. At most one of a step can move money. */
export interface StepSignature {
  /** 1 for the first; one more for each that takes the place of one that is void. */
  number: number;
  signedAtMs: number;
  /** As good as money until it is used or void. Null once it is void, or the job has ended. */
  bytes: Hex | null;
}

/** Where an attempt was mined. */
export interface MinedAttempt {
  hash: Hex;
  blockNumber: number;
  blockHash: Hex;
}

export interface StepRecord extends PlannedStep {
  /** Taken once and never given back. */
  nonce: number | null;
  attempts: readonly Attempt[];
  /** Null while nothing is signed, and in a step that is a transaction. */
  signature: StepSignature | null;
  mined: MinedAttempt | null;
  /** An operator wants the last attempt replaced by one with higher fees. */
  isHurried?: true;
  /** The step was not needed: its effect was already there. */
  skipped: boolean;
  /** The step is given up after it took its nonce. Any further attempt is of kind `cancel`. */
  voided: boolean;
}

/** A step that is a signature, with the bytes. */
export interface SignedStep extends StepRecord {
  signs: PaymentToSign;
  signature: StepSignature & { bytes: Hex };
}

/** The number of the signature that the job's current step gets next. */
export function nextSignature({ steps, stepIndex }: Pick<JobRecord, 'steps' | 'stepIndex'>): number {
  return (steps[stepIndex]?.signature?.number ?? 0) + 1;
}

/** The attempt to send: the last, but no cancel that was refused, after which the job goes on. */
export function lastAttempt({ attempts, voided }: Pick<StepRecord, 'attempts' | 'voided'>): Attempt | undefined {
  return voided ? attempts.at(-1) : attempts.findLast(({ kind }) => kind !== 'cancel');
}

/** True while the step's signature may still move money. */
export function isSigned(step: StepRecord | null | undefined): step is SignedStep {
  return step?.signs !== undefined && (step.signature?.bytes ?? null) !== null;
}

/** The code of a job whose nonce was filled: nothing but a cancel may use it. */
export const NONCE_FILLED = 'NONCE_FILLED';

/** How a job will end once its steps in flight are final. */
export type Ending =
  | {
      state: Extract<FinalState, 'CANCELLED' | 'PLAN_FAILED' | 'REVERTED' | 'REJECTED'>;
      failure: JobFailure;
      /** The plan now consists of the steps that revoke what the job left behind (allowances). */
      undoing: boolean;
    }
  /** The job succeeded, whatever becomes of the steps that revoke its leftovers. */
  | { state: 'FINAL'; failure: null; undoing: true };

export interface JobApproval {
  /**
   * Hash of the plan's bounds: the least that arrives and the most that leaves. An approval is valid for these bounds
   * only.
   */
  floorsHash: string;
  /** The API key whose holder approved these bounds; null: not approved yet. */
  approvedBy: string | null;
}

/** What a job waits for, for its owner. */
export interface WaitReason extends JobFailure {
  code: WaitingCode;
}

export interface JobWait extends WaitReason {
  sinceMs: number;
}

/** What the journal stores about a job. Times are milliseconds on Redis's clock. */
export interface JobRecord {
  id: string;
  lane: LaneId;
  operation: string;
  input: JsonValue;
  /** The wallet's name, as the submitter gave it. */
  wallet: string;
  /** The API key that submitted it. */
  keyId: string;
  fingerprint: string;
  submittedAtMs: number;
  updatedAtMs: number;
  endedAtMs: number | null;
  /** The job that this one repeats. */
  retryOf: string | null;
  state: JobState;
  /** The current step; equal to `steps.length` while that step is not planned yet. */
  stepIndex: number;
  steps: readonly StepRecord[];
  /** What the planner stores beside the steps: a preview and the plan's bounds. */
  plan: JsonValue;
  /** Null: no approval is needed. */
  approval: JobApproval | null;
  ending: Ending | null;
  /** Set in every final state except FINAL, and in NEEDS_OPERATOR. */
  failure: JobFailure | null;
  /** Why no RPC server took the last cancel, so that the job goes on; null: there was none, or it was not refused. */
  cancelRefused: JobFailure | null;
  /** Why it stands still, as its worker last saw it; null once it is in another state or at another step. */
  waiting: JobWait | null;
  /** Each entry is written once, by the operation: for a payment its challenge, its reference and the response. */
  details: { readonly [name: string]: JsonValue };
}

/** True for the states of a job that has ended: see FINAL_STATES. */
export function isFinal(state: JobState): state is FinalState {
  return (FINAL_STATES as readonly string[]).includes(state);
}

/** True while the job can still advance without an operator. */
export function isOpen(state: JobState): state is OpenState {
  return (OPEN_STATES as readonly string[]).includes(state);
}

/**
 * An event of a job. Each consumer receives it at least once, always with the same id. Every final state is reported by
 * one event: FINAL by `jobCompleted`, all others by `transactionFailed`.
 */
export interface JobEvent extends Pick<JobRecord, 'state' | 'operation' | 'lane' | 'keyId'> {
  /** `jobId:state:sequence`. */
  id: string;
  /** Increases by one with every event of the lane. */
  sequence: number;
  type: JobEventType;
  jobId: string;
  atMs: number;
  txHash?: Hex;
  error?: JobFailure;
}
