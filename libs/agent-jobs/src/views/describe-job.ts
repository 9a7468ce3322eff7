import { isFinal, isSigned, type Attempt, type JobEvent, type JobRecord, type StepRecord } from '@tollgate/journal';
import {
  JOB_OPERATIONS,
  type AgentAnswerView,
  type AgentAttemptView,
  type AgentJobEvent,
  type AgentJobView,
  type AgentStepView,
  type JobOperation,
} from '@tollgate/protocol';

import { readStoredPlan } from './stored-plan.js';

export interface DescribeOptions {
  /** A block explorer with transactions at `/tx/<hash>`; without one there are no links. */
  explorerUrl?: string | undefined;
}

/** A job of the journal as shown to its owner. It contains no signed bytes. */
export function describeJob(job: JobRecord, { explorerUrl }: DescribeOptions): AgentJobView {
  return {
    id: job.id,
    operation: nameOperation(job.operation),
    wallet: job.wallet,
    // Always an object, because the gateway and the worker accept nothing else.
    input: job.input as AgentJobView['input'],
    state: job.state,
    submittedAt: toIso(job.submittedAtMs),
    updatedAt: toIso(job.updatedAtMs),
    endedAt: job.endedAtMs === null ? null : toIso(job.endedAtMs),
    retryOf: job.retryOf,
    plan: readStoredPlan(job),
    approval: job.approval,
    steps: job.steps.map((step, index) => describeStep(job, step, index, explorerUrl)),
    failure: job.failure ?? job.ending?.failure ?? null,
    cancelRefused: job.cancelRefused,
    waiting: describeWaiting(job),
    answer: readAnswer(job),
  };
}

export function describeWaiting({ waiting }: Pick<JobRecord, 'waiting'>): AgentJobView['waiting'] {
  if (waiting === null) return null;
  const { sinceMs, ...why } = waiting;
  return { ...why, since: toIso(sinceMs) };
}

function readAnswer({ details: { answer } }: JobRecord): AgentAnswerView | null {
  if (answer === undefined) return null;
  // Safe to cast: only the worker writes it.
  return answer as unknown as AgentAnswerView;
}

/** @throws TypeError for an operation that this version of the program does not know */
function nameOperation(name: string): JobOperation {
  const found = JOB_OPERATIONS.find((one) => one === name);
  if (!found) throw new TypeError(`the journal has a job of the unknown operation ${name}`);
  return found;
}

function describeStep(job: JobRecord, step: StepRecord, index: number, explorerUrl: string | undefined): AgentStepView {
  return {
    label: step.label,
    state: stateOf(job, step, index),
    to: step.to,
    valueWei: step.value.toString(),
    nonce: step.nonce,
    attempts: step.attempts.map((attempt) => describeAttempt(attempt, explorerUrl)),
    mined: step.mined && {
      txHash: step.mined.hash,
      blockNumber: step.mined.blockNumber,
      blockHash: step.mined.blockHash,
    },
  };
}

function stateOf(job: JobRecord, step: StepRecord, index: number): AgentStepView['state'] {
  if (step.skipped) return 'skipped';
  const { mined } = step;
  if (mined) {
    if (step.attempts.some(({ kind, hash }) => hash === mined.hash && kind === 'cancel')) return 'given_up';
    if (index < job.stepIndex || job.state === 'FINAL') return 'done';
    return job.state === 'REVERTED' ? 'failed' : 'mined';
  }
  if (step.voided) return 'given_up';
  if (step.signs && (index < job.stepIndex || job.state === 'FINAL')) return 'done';
  if (isSigned(step)) return 'signed';
  if (step.signature && isFinal(job.state)) return 'given_up';
  if (step.attempts.some(({ sentAtMs }) => sentAtMs !== null)) return 'submitted';
  if (step.attempts.length > 0) return 'signed';
  return step.nonce === null ? 'planned' : 'reserved';
}

function describeAttempt(
  { kind, hash, signedAtMs, sentAtMs }: Attempt,
  explorerUrl: string | undefined,
): AgentAttemptView {
  return {
    kind,
    txHash: hash,
    explorerUrl: explorerUrl === undefined ? null : `${explorerUrl.replace(/\/$/, '')}/tx/${hash}`,
    signedAt: toIso(signedAtMs),
    sentAt: sentAtMs === null ? null : toIso(sentAtMs),
  };
}

function toIso(ms: number): string {
  return new Date(ms).toISOString();
}

/** A journal event in the form in which clients receive it, over every channel. */
export function toAgentJobEvent(event: JobEvent, walletName: string): AgentJobEvent {
  const { id, type, jobId, operation, atMs, txHash, error } = event;
  return {
    id,
    type,
    jobId,
    // Safe to cast: jobs are parsed before they are journaled.
    operation: operation as JobOperation,
    wallet: walletName,
    at: new Date(atMs).toISOString(),
    ...(txHash !== undefined && { txHash }),
    ...(error !== undefined && { error }),
  };
}
