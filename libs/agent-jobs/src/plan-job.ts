import type { AgentJobRequest, AgentPlanView, JobFailure } from '@tollgate/protocol';

/** The version is in the name: a worker of another version answers "no handler" and never misreads a message. */
export const PLAN_JOB = 'plan-job.v1';

/** The request-reply queue between gateways and workers; a dry run has the wallet's name as routing key. */
export const PLAN_QUEUE = 'plan';

/** A dry-run request; nothing is written or sent for it. */
export type PlanJobRequest = AgentJobRequest;

export type PlanJobReply =
  | { outcome: 'planned'; plan: AgentPlanView }
  /** The job would end as PLAN_FAILED. */
  | { outcome: 'refused'; failure: JobFailure }
  /** The chain or the wallet cannot be read now. */
  | { outcome: 'unavailable'; reason: string };
