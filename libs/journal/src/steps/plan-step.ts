import { ChainUnavailableError } from '@tollgate/chain';

import { crashPoint } from '../crash-point.js';
import type { JobFailure, JobRecord, JsonValue, PlannedStep } from '../jobs/job.js';
import { PlanFailure, WalletEmptyError, type JobPlan, type PlanPolicy } from '../jobs/ports.js';
import type { BeginStepResult, LockResult, ReserveResult, SpendingResult, Transition } from '../jobs/transition.js';
import { assertLease, currentStep, writeFor, type LaneWork } from '../lanes/lane-work.js';
import { pauseEmpty } from './broadcast.js';
import { makePlan } from './funds.js';
import { nextWrite, placeOf } from './step-rules.js';

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
  if (plan instanceof PlanFailure) return refusePlan(work, job, 'unplannable', plan.failure);

  const begun = await storePlan(work, job, plan);
  const hindrance =
    (await judgePlan(work, job, begun.plan)) ??
    (await judgeLocks(work, job, plan, begun.lock)) ??
    (await judgeSpending(work, job, begun.spending));
  return hindrance ?? skipIfDone(work, job, plan.steps[0], begun.reserved);
}

/**
 * Stores the plan and reserves everything it needs. The nonce is included unless the step may turn out unnecessary or
 * the plan must be made again.
 */
function storePlan({ journal, lease, settings }: LaneWork, job: JobRecord, plan: JobPlan): Promise<BeginStepResult> {
  const { steps, preview, floorsHash, needsApproval, locks, spendings } = plan;
  const [step] = steps;
  // A signature takes no nonce.
  const isSure = step && step.holdsIf === undefined && step.signs === undefined && !plan.reliesOnLocked;
  return journal.beginStep({
    ...writeFor({ lease }, job),
    steps,
    plan: preview,
    floorsHash,
    needsApproval,
    locks,
    spendings,
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

/** `again`: the job is where this cannot be said of its plan. */
async function refusePlan(
  work: LaneWork,
  job: JobRecord,
  fact: 'unplannable' | 'floors_changed' | 'over_limit',
  failure: JobFailure,
): Promise<Hindrance> {
  return nextWrite(fact, placeOf(job)) === 'failPlan' ? giveUpPlan(work, job, failure) : { outcome: 'again' };
}

/** Ends the job, or starts to revoke what it left behind. If its nonce is taken, a cancel follows. */
export async function giveUpPlan(work: LaneWork, job: JobRecord, failure: JobFailure | null): Promise<Hindrance> {
  if (failure === null) return { outcome: 'again' };
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
  if (stored.reason !== 'floors_changed') return { outcome: 'again' };
  return refusePlan(work, job, 'floors_changed', policyOf(work).explainRefusal({ reason: 'floors_changed' }));
}

async function judgeLocks(
  work: LaneWork,
  job: JobRecord,
  plan: JobPlan,
  lock: LockResult | null,
): Promise<Hindrance | null> {
  if (lock === null) return null;
  assertLease(lock);
  if (lock.outcome === 'done' && plan.reliesOnLocked) return { outcome: 'again' };
  if (lock.outcome !== 'refused') return null;
  if (lock.reason !== 'locked') return { outcome: 'again' };
  const holder = 'holder' in lock ? lock.holder : null;
  if (nextWrite('lock_held', placeOf(job)) === 'failPlan') {
    return giveUpPlan(work, job, policyOf(work).explainRefusal({ reason: 'locked', holder }));
  }
  if (holder !== null) work.locked.note(job.id, plan.locks ?? [], holder);
  return { outcome: 'locked' };
}

async function judgeSpending(
  work: LaneWork,
  job: JobRecord,
  counted: SpendingResult | null,
): Promise<Hindrance | null> {
  if (counted === null || assertLease(counted).outcome !== 'refused') return null;
  if (!('asset' in counted)) return { outcome: 'again' };
  const { asset, left } = counted;
  return refusePlan(work, job, 'over_limit', policyOf(work).explainRefusal({ reason: 'over_limit', asset, left }));
}

async function skipIfDone(
  work: LaneWork,
  job: JobRecord,
  step: PlannedStep | undefined,
  reserved: ReserveResult | null,
): Promise<PlanOutcome> {
  const isDone = !step || (step.holdsIf !== undefined && (await holds(work, step.holdsIf)));
  if (step && (!isDone || nextWrite('effect_is_there', placeOf(job)) === 'putFirst')) {
    return { outcome: 'planned', step, reserved };
  }
  assertLease(await work.journal.skipStep(writeFor(work, job)));
  return { outcome: 'again' };
}

/** @throws ChainUnavailableError when the chain gives no usable answer */
async function holds(work: LaneWork, condition: JsonValue): Promise<boolean> {
  const isSo = await policyOf(work).holds(condition, (to, data) => work.chain.call(to, data));
  if (isSo === null) throw new ChainUnavailableError('rpc_malformed', 'The answer of the contract cannot be read.');
  return isSo;
}

/** @throws TypeError for a planner that makes such plans and has no policy */
function policyOf({ planner: { policy } }: LaneWork): PlanPolicy {
  if (!policy) throw new TypeError('The planner has no policy for its plans.');
  return policy;
}
