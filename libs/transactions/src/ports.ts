import type { Hex } from '@tollgate/protocol';

import type { JobFailure, JobRecord, JsonValue, LaneId, PlannedStep, StepRecord } from './job.js';
import type { ApprovalScope, Spending } from './transition.js';

/** What a job will do from one of its steps on, as data: nothing is sent by making it. */
export interface JobPlan {
  /** From the asked step on. None: the job has nothing left to do. */
  steps: readonly PlannedStep[];
  /** Kept with the job for people: a preview, floors. */
  preview: JsonValue;
  /** Names the least that arrives and the most that leaves. */
  floorsHash: string;
  needsApproval: boolean;
  /** The whole job's part of the day's limits; left out, nothing is counted. */
  spendings?: readonly Spending[];
  /** Allowances that no other job may use or take back before this one ends. */
  approvals?: readonly ApprovalScope[];
  /** One of them was there already: another job may have used it before the lock was taken, so the plan is made again. */
  reliesOnAllowance?: boolean;
}

/** Knows what the operations are. It signs and sends nothing. */
export interface JobPlanner {
  /**
   * Called again before each step is signed, so quotes and deadlines are fresh.
   * @param context `token` is the lane's lease, for writing details of the job.
   * @throws PlanFailure when the job cannot be done; WalletEmptyError; anything else means "ask again later", each time after longer
   */
  plan(job: JobRecord, context: { stepIndex: number; token: number }): Promise<JobPlan>;
  /** The steps that take back what a job has left behind, failed or done; they are carried out before it ends. */
  undo?(job: JobRecord): Promise<readonly PlannedStep[]>;
}

/** The job cannot be done, and trying again would not help. */
export class PlanFailure extends Error {
  override readonly name = 'PlanFailure';

  constructor(
    readonly failure: JobFailure,
    options?: ErrorOptions,
  ) {
    super(failure.message, options);
  }
}

/** The wallet cannot pay for gas: its lane waits until there is more in it, and no job fails. */
export class WalletEmptyError extends Error {
  override readonly name = 'WalletEmptyError';
}

/** All of an EIP-1559 transaction that is signed. Fees are wei per gas. */
export interface TransactionToSign {
  chainId: number;
  nonce: number;
  to: Hex;
  data: Hex;
  value: bigint;
  gas: bigint;
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
}

/** The only thing that sees a key. */
export interface LaneSigner {
  readonly address: Hex;
  /** The signed transaction, as `eth_sendRawTransaction` takes it. */
  sign(transaction: TransactionToSign): Promise<Hex>;
}

export interface ReceiptLog {
  address: Hex;
  topics: readonly Hex[];
  data: Hex;
}

/** What the chain says of a mined attempt. */
export interface StepReceipt {
  transactionHash: Hex;
  blockHash: Hex;
  blockNumber: number;
  status: 'success' | 'reverted';
  gasUsed: bigint;
  logs: readonly ReceiptLog[];
}

/**
 * What a mined step came to. `later`: not known yet, it is asked again at the next look. `needs_operator`: the
 * transaction did what it should, and what was to follow from it did not.
 */
export type StepVerdict = { outcome: 'done' | 'later' } | { outcome: 'failed' | 'needs_operator'; failure: JobFailure };

/**
 * Judges a step whose transaction is mined deep enough; a reverted one fails whatever is said here. Must answer soon, since
 * the whole lane waits: what takes long is begun, and `later` is the answer meanwhile. What it throws means `later` too, each time after longer.
 */
export type JudgeStep = (
  job: JobRecord,
  step: StepRecord,
  receipt: StepReceipt,
  context: { token: number },
) => Promise<StepVerdict>;

/** Where a job's wake-up goes: a message queue between processes, or a runner of this one. Waking twice does no harm. */
export interface JobQueue {
  wake(jobId: string, lane: LaneId): Promise<void> | void;
}
