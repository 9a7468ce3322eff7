/** Every operation that a job can ask for. `payment` buys the answer of an HTTP GET at a 402 gate. */
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

/** States that a job passes through: the state of its current step. */
export const OPEN_STATES = ['AWAITING_APPROVAL', 'PLANNED', 'RESERVED', 'SIGNED', 'BROADCAST', 'MINED'] as const;
/** States that a job never leaves. */
export const FINAL_STATES = ['FINAL', 'REVERTED', 'CANCELLED', 'REJECTED', 'PLAN_FAILED'] as const;
/** NEEDS_OPERATOR is neither: nothing moves the job on but a person, who resumes or abandons it. */
export const JOB_STATES = [...OPEN_STATES, ...FINAL_STATES, 'NEEDS_OPERATOR'] as const;

export type OpenState = (typeof OPEN_STATES)[number];
export type FinalState = (typeof FINAL_STATES)[number];
export type JobState = (typeof JOB_STATES)[number];

/** What a job reports; specification, section "Events", and the events beside it. */
export const EVENT_TYPES = [
  'transactionSubmitted',
  'transactionConfirmed',
  'transactionFailed',
  'jobCompleted',
  'jobNeedsOperator',
] as const;
export type JobEventType = (typeof EVENT_TYPES)[number];

/** Why a job ended otherwise than it should, for its owner. */
export interface JobFailure {
  code: string;
  message: string;
  suggestion: string;
}

/** What is asked of the worker: the inputs are those of the agent kit's operation of that name. */
export interface AgentJobRequest {
  operation: AgentOperation;
  /** The wallet's name. */
  wallet: string;
  input: Readonly<Record<string, unknown>>;
}

/** An amount of a token for people and programs: `amount` is decimal text in whole units. */
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
  /** For people, several lines. */
  preview: string;
  /** The most that leaves the wallet, fees of the chain aside. */
  spends: readonly AgentAmountView[];
  /** The least that arrives. */
  receives: readonly AgentAmountView[];
  recipients: readonly string[];
  warnings: readonly string[];
  slippageBps: number | null;
  /** Names the most that leaves and the least that arrives: what a person agrees to. */
  floorsHash: string;
  needsApproval: boolean;
}

export interface AgentAttemptView {
  kind: 'first' | 'replacement' | 'cancel';
  txHash: string;
  /** Null where no explorer is configured. */
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

/** What a paid resource answered; the body is cut at 16 KiB. */
export interface AgentAnswerView {
  httpStatus: number;
  contentType: string | null;
  body: string | null;
  isBodyCut: boolean;
}

/** A job as `GET /agent/jobs/:id` shows it. Times are ISO 8601, UTC. */
export interface AgentJobView extends AgentJobRequest {
  id: string;
  state: JobState;
  submittedAt: string;
  updatedAt: string;
  endedAt: string | null;
  retryOf: string | null;
  plan: AgentPlanView | null;
  approval: { floorsHash: string; approvedBy: string | null } | null;
  steps: readonly AgentStepView[];
  failure: JobFailure | null;
  /** Of a payment that was answered. */
  answer: AgentAnswerView | null;
}

export interface AgentJobPage {
  jobs: readonly AgentJobView[];
  /** Asks for the next page; null after the last. */
  cursor: string | null;
}

/** An event as SSE, webhooks and subscribers get it: at least once, always under the same id. */
export interface AgentJobEvent {
  /** `jobId:state:sequence`. */
  id: string;
  type: JobEventType;
  jobId: string;
  operation: AgentOperation;
  wallet: string;
  /** ISO 8601, UTC. */
  at: string;
  txHash?: string;
  error?: JobFailure;
}
