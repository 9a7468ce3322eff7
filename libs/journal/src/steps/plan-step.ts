import { ChainUnavailableError } from '@tollgate/chain';
import { decodeFunctionResult, encodeFunctionData, erc20Abi } from 'viem';

import { crashPoint } from '../crash-point.js';
import type { AllowanceHolds, JobFailure, JobRecord, PlannedStep } from '../jobs/job.js';
import { PlanFailure, WalletEmptyError, type JobPlan } from '../jobs/ports.js';
import type { BeginStepResult, LockResult, ReserveResult, SpendingResult, Transition } from '../jobs/transition.js';
import { assertLease, currentStep, writeFor, type LaneWork } from '../lanes/lane-work.js';
import { pauseEmpty } from './broadcast.js';
import { makePlan } from './funds.js';

/** `again`: the job has moved on, read it again. `reserved`: null if no nonce was requested yet. */
export type PlanOutcome = { outcome: 'planned'; step: PlannedStep; reserved: ReserveResult | null } | Hindrance;

interface Hindrance {
  outcome: 'again' | 'waiting' | 'locked';
  step?: never;
  reserved?: never;
}

/**
 * Plans the job's current step with fresh quotes, whether PLANNED or with its nonce taken and nothing signed. Checks
 * everything that must hold before signing, and takes the nonce on the way. The steps that undo a job are already
 * planned.
 */
export async function planStep(work: LaneWork, job: JobRecord): Promise<PlanOutcome> {
  if (job.ending?.undoing) {
    const step = currentStep(job);
    return step ? { outcome: 'planned', step, reserved: null } : { outcome: 'again' };
  }
  crashPoint('F3');
  const plan = await askPlanner(work, job);
  if (plan === null) return { outcome: 'waiting' };
  if (plan instanceof PlanFailure) return giveUpPlan(work, job, plan.failure);

  const begun = await storePlan(work, job, plan);
  const hindrance =
    (await judgePlan(work, job, begun.plan)) ??
    (await judgeApprovals(work, job, plan, begun.lock)) ??
    (await judgeSpending(work, job, begun.spending));
  return hindrance ?? skipIfDone(work, job, plan.steps[0], begun.reserved);
}

/**
 * Stores the plan and reserves everything it needs. The nonce is included unless the step may turn out unnecessary or
 * the plan must be made again.
 */
function storePlan({ journal, lease, settings }: LaneWork, job: JobRecord, plan: JobPlan): Promise<BeginStepResult> {
  const { steps, preview, floorsHash, needsApproval, approvals, spendings } = plan;
  const [step] = steps;
  // A signature takes no nonce.
  const isSure = step && step.holdsIf === undefined && step.signs === undefined && !plan.reliesOnAllowance;
  return journal.beginStep({
    ...writeFor({ lease }, job),
    ...{ steps, plan: preview, floorsHash, needsApproval, approvals, spendings },
    maxInFlight: isSure ? settings.maxInFlight : undefined,
  });
}

/** Null: not now, because the wallet cannot pay or the planner failed at this job a moment ago. */
async function askPlanner(work: LaneWork, job: JobRecord): Promise<JobPlan | PlanFailure | null> {
  const { retries, wallet } = work;
  if (wallet.isEmpty || retries.isPutOff(job.id)) return null;
  try {
    const plan = await makePlan(work, job);
    retries.forget(job.id);
    return plan;
  } catch (error) {
    if (error instanceof PlanFailure) return error;
    if (error instanceof WalletEmptyError) {
      await pauseEmpty(work, job.id);
      return null;
    }
    retries.putOff(job.id);
    throw error;
  }
}

/** Ends the job, or starts to revoke what it left behind. If its nonce is taken, a cancel follows. */
export async function giveUpPlan(work: LaneWork, job: JobRecord, failure: JobFailure): Promise<Hindrance> {
  const undo = job.stepIndex > 0 && job.state !== 'RESERVED' ? await askUndo(work, job) : [];
  if (undo === null) return { outcome: 'waiting' };
  const failed = assertLease(
    await work.journal.failPlan({
      ...writeFor(work, job),
      failure,
      undo,
      givesBackSpending: job.stepIndex === 0,
    }),
  );
  return { outcome: failed.outcome === 'refused' && failed.reason === 'lane_frozen' ? 'waiting' : 'again' };
}

/** The steps that revoke what the job left behind; null: not now, for the same reasons as with plans. */
export async function askUndo({ planner, retries }: LaneWork, job: JobRecord): Promise<readonly PlannedStep[] | null> {
  if (retries.isPutOff(job.id)) return null;
  try {
    return (await planner.undo?.(job)) ?? [];
  } catch (error) {
    retries.putOff(job.id);
    throw error;
  }
}

async function judgePlan(work: LaneWork, job: JobRecord, stored: Transition): Promise<Hindrance | null> {
  assertLease(stored);
  if (stored.outcome !== 'refused') return stored.state === 'AWAITING_APPROVAL' ? { outcome: 'again' } : null;
  return stored.reason === 'floors_changed' ? giveUpPlan(work, job, FLOORS_CHANGED) : { outcome: 'again' };
}

async function judgeApprovals(
  work: LaneWork,
  job: JobRecord,
  plan: JobPlan,
  lock: LockResult | null,
): Promise<Hindrance | null> {
  if (lock === null) return null;
  assertLease(lock);
  if (lock.outcome === 'done' && plan.reliesOnAllowance) return { outcome: 'again' };
  if (lock.outcome !== 'refused') return null;
  if (lock.reason !== 'locked') return { outcome: 'again' };
  // With a nonce taken the job must not wait, because every later transaction of the wallet would wait for it.
  if (job.state === 'RESERVED') return giveUpPlan(work, job, APPROVAL_HELD);
  if ('holder' in lock) work.locked.note(job.id, plan.approvals ?? [], lock.holder);
  return { outcome: 'locked' };
}

async function judgeSpending(
  work: LaneWork,
  job: JobRecord,
  counted: SpendingResult | null,
): Promise<Hindrance | null> {
  if (counted === null || assertLease(counted).outcome !== 'refused') return null;
  if (!('reason' in counted) || counted.reason !== 'over_limit') return { outcome: 'again' };
  const left = 'left' in counted ? ` (${counted.left} base units of ${counted.asset} are left)` : '';
  return giveUpPlan(work, job, {
    code: 'DAILY_LIMIT',
    message: `The job would exceed the wallet's daily spending limit${left}.`,
    suggestion: "Wait for the next day (UTC), or have the wallet's limit raised.",
  });
}

async function skipIfDone(
  work: LaneWork,
  job: JobRecord,
  step: PlannedStep | undefined,
  reserved: ReserveResult | null,
): Promise<PlanOutcome> {
  const isDone = !step || (step.holdsIf !== undefined && (await readHolds(work.chain, step.holdsIf)));
  if (step && (!isDone || job.state === 'RESERVED')) return { outcome: 'planned', step, reserved };
  assertLease(await work.journal.skipStep(writeFor(work, job)));
  return { outcome: 'again' };
}

const FLOORS_CHANGED: JobFailure = {
  code: 'FLOORS_CHANGED',
  message: 'Prices moved past the approved bounds after the step had taken its nonce.',
  suggestion: 'Submit the job again and have its new bounds approved.',
};

const APPROVAL_HELD: JobFailure = {
  code: 'APPROVAL_HELD',
  message: 'Another job holds an allowance that this job now needs.',
  suggestion: 'Submit the job again once the other job has ended.',
};

/**
 * Reads whether the condition holds at the latest block: the allowance is at least the amount, or zero where the amount
 * is zero.
 * @throws ChainUnavailableError when the chain gives no usable answer
 */
async function readHolds(
  chain: LaneWork['chain'],
  { token, owner, spender, amount }: AllowanceHolds,
): Promise<boolean> {
  const call = { abi: erc20Abi, functionName: 'allowance' } as const;
  const result = await chain.call(token, encodeFunctionData({ ...call, args: [owner, spender] }));
  let allowance: bigint;
  try {
    allowance = decodeFunctionResult({ ...call, data: result });
  } catch (cause) {
    throw new ChainUnavailableError('rpc_malformed', "The token's answer is not an allowance.", { cause });
  }
  return amount === 0n ? allowance === 0n : allowance >= amount;
}
