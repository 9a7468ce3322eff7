import type { Hex, PaymentToSign, QuotedFees } from '@tollgate/protocol';

import type {
  JobFailure,
  JobRecord,
  JsonValue,
  LaneId,
  PlannedStep,
  SignedStep,
  StepRecord,
  WaitReason,
} from './job.js';
import type { Spending, TransactionReport } from './transition.js';

/** What a job will do from one of its steps on, as data. Making a plan sends nothing. */
export interface JobPlan {
  /** From the requested step on. Empty: the job has nothing left to do. */
  steps: readonly PlannedStep[];
  /** Stored with the job for display: a preview and the plan's bounds. */
  preview: JsonValue;
  /** Hash of the plan's bounds: the least that arrives and the most that leaves. */
  floorsHash: string;
  needsApproval: boolean;
  /** The whole job's share of the daily limits; if omitted, nothing is counted. */
  spendings?: readonly Spending[];
  /** Names of what no other job of the wallet may use before this one ends. */
  locks?: readonly string[];
  /** Another job may have changed it before it was locked, so the plan is made again once it is. */
  reliesOnLocked?: boolean;
}

/** Why the journal does not take a plan. */
export type PlanRefusal =
  /** Its bounds are not those under which the step got its nonce. */
  | { reason: 'floors_changed' }
  /** `holder` has what the plan locks. */
  | { reason: 'locked'; holder: string | null }
  /** `left`: base units of the asset. */
  | { reason: 'over_limit'; asset: string; left: bigint };

/** The rules for plans that the journal keeps without knowing what they are about. */
export interface PlanPolicy {
  /** Whether the condition of a step holds; null: the answer says nothing. `call` reads a contract at the latest block. */
  holds(condition: JsonValue, call: (to: Hex, data: Hex) => Promise<Hex>): Promise<boolean | null>;
  /** The failure of a job that ends because its plan is refused. */
  explainRefusal(refusal: PlanRefusal): JobFailure;
  /** For what a job waits while another one holds what it locks; null: it is not known which. */
  explainLock(holder: string | null): WaitReason;
}

/** Turns operations into plans. It signs and sends nothing. */
export interface JobPlanner {
  /**
   * Called again before each step is signed, so that quotes and deadlines are fresh.
   * @param context `token` is the token of the lane's lease, for writing details of the job.
   * @throws PlanFailure when the job cannot be done; WalletEmptyError; any other error means "ask again later", with a
   * growing delay
   */
  plan(job: JobRecord, context: { stepIndex: number; token: number }): Promise<JobPlan>;
  /** Required where plans have conditions, locks, bounds or limits. */
  policy?: PlanPolicy;
  /** For what a job waits whose `plan` or `undo` threw this error; null: unknown. */
  explainDelay?(error: unknown): WaitReason | null;
  /** The steps that revoke what a job has left behind, failed or done. They run before the job ends. */
  undo?(job: JobRecord): Promise<readonly PlannedStep[]>;
  /** Judges a step that is a signature; required where there are such steps. */
  judgeSignature?: JudgeSignature;
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

/** The wallet cannot pay for gas. Its lane waits for funds, and no job fails. */
export class WalletEmptyError extends Error {
  override readonly name = 'WalletEmptyError';
}

/** The fields of a transaction to sign. */
export interface TransactionToSign extends Pick<PlannedStep, 'to' | 'data' | 'value' | 'gas'>, QuotedFees {
  chainId: number;
  nonce: number;
}

/** The only component that has access to a key. */
export interface LaneSigner {
  readonly address: Hex;
  /** The signed transaction, as `eth_sendRawTransaction` takes it. */
  sign(transaction: TransactionToSign): Promise<Hex>;
  /** The 65 bytes of the signature. @throws Error for a payment of another account */
  signPayment(payment: PaymentToSign, chainId: number): Promise<Hex>;
}

export interface ReceiptLog {
  address: Hex;
  topics: readonly Hex[];
  data: Hex;
}

/** What the chain reports about a mined attempt. */
export interface StepReceipt {
  transactionHash: Hex;
  blockHash: Hex;
  blockNumber: number;
  status: 'success' | 'reverted';
  gasUsed: bigint;
  /** Wei per gas; missing where the server does not return it. */
  effectiveGasPrice?: bigint;
  logs: readonly ReceiptLog[];
}

/**
 * The outcome of a mined step. `later`: not known yet; ask again at the next look. `needs_operator`: the transaction
 * succeeded, but what should have followed from it did not.
 */
export type StepVerdict = { outcome: 'done' | 'later' } | { outcome: 'failed' | 'needs_operator'; failure: JobFailure };

/**
 * Judges a step whose transaction is mined deep enough; a reverted one fails regardless. It must answer soon, since the
 * whole lane waits: start slow work and return `later` meanwhile. A rejection means `later` too, with a growing delay.
 */
export type JudgeStep = (
  job: JobRecord,
  step: StepRecord,
  receipt: StepReceipt,
  context: { token: number },
) => Promise<StepVerdict>;

/**
 * The outcome of a signed payment. `void`: the chain shows, finally, that it was not used and cannot be used any more.
 * `needs_operator`: the money has moved, or may still move, and nothing came of it.
 */
export type SignatureVerdict =
  | { outcome: 'done' | 'later' }
  | { outcome: 'void' }
  | { outcome: 'needs_operator'; failure: JobFailure };

/**
 * Presents a signed payment, whose bytes are in the journal, and judges the outcome. It may be called again for the
 * same signature after any crash. It must answer soon: start slow work and return `later` meanwhile. A rejection means
 * `later` too, with a growing delay.
 */
export type JudgeSignature = (
  job: JobRecord,
  step: SignedStep,
  context: { token: number },
) => Promise<SignatureVerdict>;

/** Describes a mined transaction of a job for the book. Must not throw: the step would not end. */
export type ReportTransaction = (job: JobRecord, step: StepRecord, receipt: StepReceipt) => TransactionReport;

/**
 * Where a job's wake-up goes: a message queue between processes, or a runner in this one. Waking twice does no harm.
 */
export interface JobQueue {
  wake(jobId: string, lane: LaneId): Promise<void> | void;
}
