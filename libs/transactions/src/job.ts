import {
  FINAL_STATES,
  JOB_STATES,
  OPEN_STATES,
  type FinalState,
  type Hex,
  type JobFailure,
  type JobState,
  type OpenState,
} from '@tollgate/protocol';

/** One wallet on one chain. The address is lower case. */
export interface LaneId {
  chainId: number;
  address: Hex;
}

export { FINAL_STATES, JOB_STATES, OPEN_STATES };
export type { FinalState, JobFailure, JobState, OpenState };

export type JsonValue =
  string | number | boolean | null | readonly JsonValue[] | { readonly [name: string]: JsonValue | undefined };

/** A condition that can be read from the chain, as data: where it holds, the step has nothing left to do. */
export interface AllowanceHolds {
  kind: 'allowance';
  token: Hex;
  owner: Hex;
  spender: Hex;
  amount: bigint;
}

/** One transaction of a plan, as data. Amounts are base units. */
export interface PlannedStep {
  /** For people: `Approve exactly 1 USDC for 0x…`. */
  label: string;
  to: Hex;
  data: Hex;
  /** Native token sent along, in wei. */
  value: bigint;
  gas: bigint;
  /** The step is skipped when this holds. */
  holdsIf?: AllowanceHolds;
  /** What a mined failure looks like beyond a revert; handed on unread. */
  failures?: JsonValue;
}

/**
 * One signed transaction of a step. All attempts of a step have its nonce, so at most one of them is mined. `first` and
 * `replacement` are the step itself at rising fees; `cancel` is a transfer of nothing to the wallet itself.
 */
export interface Attempt {
  kind: 'first' | 'replacement' | 'cancel';
  hash: Hex;
  /** The signed bytes; null once the job has ended. */
  raw: Hex | null;
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
  signedAtMs: number;
  /** When an RPC first took it; null while that is unknown. */
  sentAtMs: number | null;
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
  mined: MinedAttempt | null;
  /** The step was not needed: its effect held already. */
  skipped: boolean;
  /** The step is given up after it took its nonce: what is still signed for it is of kind `cancel`. */
  voided: boolean;
}

/** How a job will end once what it has in flight is settled. */
export type Ending =
  | {
      state: Extract<FinalState, 'CANCELLED' | 'PLAN_FAILED' | 'REVERTED' | 'REJECTED'>;
      failure: JobFailure;
      /** The steps that take back what the job left behind (allowances) are in the plan now. */
      undoing: boolean;
    }
  /** It did what it should, whatever becomes of the steps that take back what is left. */
  | { state: 'FINAL'; failure: null; undoing: true };

export interface JobApproval {
  /** Names the least that arrives and the most that leaves; an approval holds for these and no others. */
  floorsHash: string;
  /** The API key whose holder agreed to these floors; null: nobody did yet. */
  approvedBy: string | null;
}

/** What the journal knows of a job. Times are milliseconds on Redis's clock. */
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
  /** What the planner wants remembered beside the steps: a preview, floors. */
  plan: JsonValue;
  /** Null: nobody needs to agree. */
  approval: JobApproval | null;
  ending: Ending | null;
  /** Set on every end but FINAL, and on NEEDS_OPERATOR. */
  failure: JobFailure | null;
  /** Written once each by the operation itself: a payment's challenge, its reference, the answer. */
  details: { readonly [name: string]: JsonValue };
}

/** True for the states that a job never leaves. */
export function isFinal(state: JobState): state is FinalState {
  return (FINAL_STATES as readonly string[]).includes(state);
}

/** True while the job's own machinery has something to do for it. */
export function isOpen(state: JobState): state is OpenState {
  return (OPEN_STATES as readonly string[]).includes(state);
}
