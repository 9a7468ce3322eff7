import { isRecord, type AgentJobRequest, type AgentPlanView, type JobFailure } from '@tollgate/protocol';
import { z } from 'zod';

import { unavailable } from './claims.js';

/** A gateway asks a worker of the job's wallet, whose name is the routing key, what the job would do: a dry run. */
export const PLAN_JOB = 'plan-job.v1';

/** Nothing is written or sent for it. The worker parses it, by the schemas of the operations that it knows. */
export const planJobRequest = z.custom<AgentJobRequest>(isRecord);
export type PlanJobRequest = z.output<typeof planJobRequest>;

const amount = z.object({ token: z.string(), symbol: z.string(), amount: z.string() });
const plan = z.object({
  summary: z.string(),
  preview: z.string(),
  spends: z.array(amount).readonly(),
  receives: z.array(amount).readonly(),
  recipients: z.array(z.string()).readonly(),
  warnings: z.array(z.string()).readonly(),
  slippageBps: z.number().nullable(),
  floorsHash: z.string(),
  needsApproval: z.boolean(),
}) satisfies z.ZodType<AgentPlanView>;
const failure = z.object({
  code: z.string(),
  message: z.string(),
  suggestion: z.string(),
}) satisfies z.ZodType<JobFailure>;

export const planJobReply = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.literal('planned'), plan }),
  /** The job would end as PLAN_FAILED. */
  z.object({ outcome: z.literal('refused'), failure }),
  /** The chain or the wallet cannot be read now. */
  unavailable,
]);
export type PlanJobReply = z.output<typeof planJobReply>;
