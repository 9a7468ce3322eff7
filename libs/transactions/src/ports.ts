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
}

/** Knows what the operations are. It signs and sends nothing. */
export interface JobPlanner {
  /**
   * Called again before each step is signed, so quotes and deadlines are fresh.
   * @throws PlanFailure when the job cannot be done; anything else that is thrown means "ask again later"
   */
  plan(job: JobRecord, context: { stepIndex: number }): Promise<JobPlan>;
  /** The steps that take back what a job that will not succeed has left behind; they are carried out before it ends. */
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
 * Tells whether a mined step failed: it was reverted, or reports a failure in its logs. Null: it did what it should; a
 * reverted step fails all the same. What it throws means "ask again later".
 */
export type ReadFailure = (job: JobRecord, step: StepRecord, receipt: StepReceipt) => Promise<JobFailure | null>;

/** Where a job's wake-up goes: a message queue between processes, or a runner of this one. Waking twice does no harm. */
export interface JobQueue {
  wake(jobId: string, lane: LaneId): Promise<void> | void;
}
