/** Every operation that a job can request. `payment` buys the answer of an HTTP GET at a 402 gate. */
export const AGENT_OPERATIONS = [
  'transfer',
  'approve',
  'transferERC721',
  'mintERC721',
  'swap',
  'addLiquidity',
  'removeLiquidity',
  'mintLending',
  'redeemLending',
  'borrowLending',
  'repayLending',
  'stake',
  'unstake',
  'claimUnstaked',
  'perpsDeposit',
  'perpsWithdraw',
  'perpsOpenPosition',
  'perpsClosePosition',
  'payment',
] as const;
export type AgentOperation = (typeof AGENT_OPERATIONS)[number];

/**
 * What the jobs of the journal do: what callers can request; refunds, which only the bookkeeper writes; and transfers of
 * nothing that fill a nonce, for which operators ask.
 */
export const JOB_OPERATIONS = [...AGENT_OPERATIONS, 'refund', 'fillNonce'] as const;
export type JobOperation = (typeof JOB_OPERATIONS)[number];

/** States that a job passes through: the state of its current step. */
export const OPEN_STATES = ['AWAITING_APPROVAL', 'PLANNED', 'RESERVED', 'SIGNED', 'BROADCAST', 'MINED'] as const;
/** States that a job never leaves, but for FINAL to CANCELLED where its transaction left the chain and its nonce was filled. */
export const FINAL_STATES = ['FINAL', 'REVERTED', 'CANCELLED', 'REJECTED', 'PLAN_FAILED'] as const;
/** NEEDS_OPERATOR is neither open nor final: the job waits until an operator resumes or abandons it. */
export const JOB_STATES = [...OPEN_STATES, ...FINAL_STATES, 'NEEDS_OPERATOR'] as const;

export type OpenState = (typeof OPEN_STATES)[number];
export type FinalState = (typeof FINAL_STATES)[number];
export type JobState = (typeof JOB_STATES)[number];

/** The events of a job (specification, section "Events") and three further ones. */
export const EVENT_TYPES = [
  'transactionSubmitted',
  'transactionConfirmed',
  'transactionFailed',
  'jobCompleted',
  'jobNeedsOperator',
  'transactionWaiting',
] as const;
export type JobEventType = (typeof EVENT_TYPES)[number];

/** What a job that stands still waits for. */
export const WAITING_CODES = [
  'fee_above_cap',
  'rpc_refuses',
  'rpc_unreachable',
  'rpc_lags',
  'chain_differs',
  'nonce_gap',
  'earlier_job',
  'in_flight_limit',
  'balance',
  'wallet_paused',
  'wallet_frozen',
  'approval',
  'allowance',
  'answer',
] as const;
export type WaitingCode = (typeof WAITING_CODES)[number];

/** Why a job failed, for its owner. */
export interface JobFailure {
  code: string;
  message: string;
  suggestion: string;
}

/** Why a job stands still, and what to do. */
export interface AgentWaitingView extends JobFailure {
  code: WaitingCode;
  /** ISO 8601, UTC. */
  since: string;
}

/** A job request; its inputs are those of the agent kit's operation of that name. */
export interface AgentJobRequest {
  operation: AgentOperation;
  /** The wallet's name. */
  wallet: string;
  input: Readonly<Record<string, unknown>>;
}

/** An amount of a token, for display and for programs: `amount` is decimal text in whole units. */
export interface AgentAmountView {
  /** `0x0` for the native token. */
  token: string;
  symbol: string;
  amount: string;
}

/** What a job will do, before anything is sent. */
export interface AgentPlanView {
  /** One sentence: `Swap 1 USDC for at least 1.97 WSEI`. */
  summary: string;
  /** Several lines, for display. */
  preview: string;
  /** The most that leaves the wallet, besides network fees. */
  spends: readonly AgentAmountView[];
  /** The least that arrives. */
  receives: readonly AgentAmountView[];
  recipients: readonly string[];
  warnings: readonly string[];
  slippageBps: number | null;
  /** Identifies the plan's limits (the most that leaves, the least that arrives), which an approval refers to. */
  floorsHash: string;
  needsApproval: boolean;
}

export interface AgentAttemptView {
  kind: 'first' | 'replacement' | 'cancel';
  txHash: string;
  /** Null when no explorer is configured. */
  explorerUrl: string | null;
  signedAt: string;
  sentAt: string | null;
}

export interface AgentStepView {
  label: string;
  state: 'planned' | 'reserved' | 'signed' | 'submitted' | 'mined' | 'done' | 'skipped' | 'given_up' | 'failed';
  to: string;
  valueWei: string;
  nonce: number | null;
  attempts: readonly AgentAttemptView[];
  mined: { txHash: string; blockNumber: number; blockHash: string } | null;
}

/** The answer of a paid resource: the first 64 KiB of its body, as they came. */
export interface AgentAnswerView {
  httpStatus: number;
  contentType: string | null;
  /** The body if it is text in UTF-8 without control characters: untrusted, with its line breaks; null otherwise. */
  body: string | null;
  /** The bytes of a body that is not such text, in base64; null otherwise. */
  bodyBase64: string | null;
  /** Whether the body was longer, or may have been because it broke off. */
  isBodyCut: boolean;
}

/** A job as `GET /agent/jobs/:id` shows it. Times are ISO 8601, UTC. */
export interface AgentJobView extends Omit<AgentJobRequest, 'operation'> {
  id: string;
  operation: JobOperation;
  state: JobState;
  submittedAt: string;
  updatedAt: string;
  endedAt: string | null;
  retryOf: string | null;
  plan: AgentPlanView | null;
  approval: { floorsHash: string; approvedBy: string | null } | null;
  steps: readonly AgentStepView[];
  failure: JobFailure | null;
  /** Why the job goes on although it was cancelled; null: it was not, or the cancel was not refused. */
  cancelRefused: JobFailure | null;
  /** Null while the job moves, and once it has ended or needs an operator. */
  waiting: AgentWaitingView | null;
  /** For a payment that received an answer. */
  answer: AgentAnswerView | null;
}

export interface AgentJobPage {
  jobs: readonly AgentJobView[];
  /**
   * Ids of jobs whose records cannot be read, whatever state and operation were asked for, unless they ended in another
   * state; absent when there are none.
   */
  unreadable?: readonly string[];
  /** Returns the next page; null after the last. */
  cursor: string | null;
}

/** An event as delivered by SSE, webhooks and subscriptions: at least once, always with the same id. */
export interface AgentJobEvent {
  /** `jobId:state:sequence`. */
  id: string;
  type: JobEventType;
  jobId: string;
  operation: JobOperation;
  wallet: string;
  /** ISO 8601, UTC. */
  at: string;
  txHash?: string;
  error?: JobFailure;
}
