import {
  EVENT_TYPES,
  JOB_OPERATIONS,
  JOB_STATES,
  WAITING_CODES,
  type AgentJobEvent,
  type AgentJobPage,
  type AgentJobView,
  type AgentPlanView,
} from '@tollgate/protocol';
import { z } from 'zod';

const textOrNull = z.string().nullable();

// The published types of what the jobs API answers are in packages/protocol, which knows no zod.

const time = z.string().meta({ format: 'date-time' });
const txHash = z.string().meta({ pattern: '^0x[0-9a-f]{64}$' });
const operation = z.enum(JOB_OPERATIONS);
const texts = z.array(z.string()).readonly();
const amounts = z
  .array(z.object({ token: z.string(), symbol: z.string(), amount: z.string().describe('decimal, whole units') }))
  .readonly();

export const jobFailure = z
  .object({ code: z.string(), message: z.string(), suggestion: z.string() })
  .meta({ id: 'JobFailure' });

export const agentPlan = z
  .object({
    summary: z.string(),
    preview: z.string(),
    spends: amounts.describe('the most that leaves the wallet'),
    receives: amounts.describe('the least that arrives'),
    recipients: texts,
    warnings: texts,
    slippageBps: z.int().nullable(),
    floorsHash: z.string().describe('hash of the bounds of the plan: the most that leaves and the least that arrives'),
    needsApproval: z.boolean(),
  })
  .meta({ id: 'AgentPlan' }) satisfies z.ZodType<AgentPlanView>;

const attempt = z.object({
  kind: z.enum(['first', 'replacement', 'cancel']),
  txHash,
  explorerUrl: z.string().meta({ format: 'uri' }).nullable(),
  signedAt: time,
  sentAt: time.nullable(),
});

const step = z.object({
  label: z.string(),
  state: z.enum(['planned', 'reserved', 'signed', 'submitted', 'mined', 'done', 'skipped', 'given_up', 'failed']),
  to: z.string(),
  valueWei: z.string(),
  nonce: z.int().nullable(),
  attempts: z.array(attempt).readonly(),
  mined: z.object({ txHash, blockNumber: z.int(), blockHash: z.string() }).nullable(),
});

const answer = z.object({
  httpStatus: z.int(),
  contentType: textOrNull,
  body: textOrNull.describe('the first 64 KiB as they came, if they are text in UTF-8'),
  bodyBase64: textOrNull.describe('the first 64 KiB as they came, if they are not such text'),
  isBodyCut: z.boolean().describe('whether the body was longer, or may have been because it broke off'),
});

export const agentJobView = z
  .object({
    id: z.string(),
    operation,
    wallet: z.string(),
    input: z.custom<AgentJobView['input']>().meta({ type: 'object' }),
    state: z.enum(JOB_STATES),
    submittedAt: time,
    updatedAt: time,
    endedAt: time.nullable(),
    retryOf: textOrNull,
    plan: agentPlan.nullable(),
    approval: z.object({ floorsHash: z.string(), approvedBy: textOrNull }).nullable(),
    steps: z.array(step).readonly(),
    failure: jobFailure.nullable(),
    cancelRefused: jobFailure
      .nullable()
      .describe('why it goes on although it was cancelled: no RPC server took the cancel'),
    waiting: z
      .object({ code: z.enum(WAITING_CODES), message: z.string(), suggestion: z.string(), since: time })
      .nullable()
      .describe('why it stands still; null while it moves, and once it has ended or needs an operator'),
    answer: answer.nullable(),
  })
  .meta({ id: 'AgentJobView' }) satisfies z.ZodType<AgentJobView>;

/** A page of jobs, as its reader sees them. */
export function jobPage<Job extends z.ZodType>(job: Job) {
  return z.object({
    jobs: z.array(job).readonly(),
    unreadable: texts
      .exactOptional()
      .describe(
        'ids of jobs whose records cannot be read, whatever state and operation were asked for, unless they ended in another state; absent when there are none',
      ),
    cursor: textOrNull.describe('cursor of the next page; null on the last page'),
  });
}

export const agentJobPage = jobPage(agentJobView).meta({ id: 'AgentJobPage' }) satisfies z.ZodType<AgentJobPage>;

export const agentJobEvent = z
  .object({
    id: z.string().describe('`jobId:state:sequence`; the same for every delivery'),
    type: z.enum(EVENT_TYPES),
    jobId: z.string(),
    operation,
    wallet: z.string(),
    at: time,
    txHash: txHash.exactOptional(),
    error: jobFailure.exactOptional(),
  })
  .meta({ id: 'AgentJobEvent' }) satisfies z.ZodType<AgentJobEvent>;
