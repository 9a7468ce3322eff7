import type { AgentJobRequest, AgentPlanView, Hex, JobFailure } from '@tollgate/protocol';

/** The request-reply queue between gateways and workers; a dry run has the wallet's name as routing key. */
export const PLAN_QUEUE = 'plan';

/** The version is in the name: a worker of another version answers "no handler" and never misreads a message. */
export const PLAN_JOB = 'plan-job.v1';
/** Any worker of the account's chain may answer. */
export const READ_MINED_NONCE = 'read-mined-nonce.v1';

/** A dry-run request; nothing is written or sent for it. */
export type PlanJobRequest = AgentJobRequest;

export type PlanJobReply =
  | { outcome: 'planned'; plan: AgentPlanView }
  /** The job would end as PLAN_FAILED. */
  | { outcome: 'refused'; failure: JobFailure }
  /** The chain or the wallet cannot be read now. */
  | { outcome: 'unavailable'; reason: string };

/** The account of a lane. `attempts`: transaction hashes; at most one of them is mined. */
export interface ReadMinedNonceRequest {
  chainId: number;
  address: Hex;
  attempts: readonly Hex[];
}

/** The number of the account's transactions up to the chain's latest block, and whether an attempt has a receipt. */
export type ReadMinedNonceReply =
  | { outcome: 'read'; minedNonce: number; isAttemptMined: boolean }
  | { outcome: 'unavailable'; reason: string };
