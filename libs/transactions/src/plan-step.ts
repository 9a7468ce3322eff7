import { pauseEmpty } from './broadcast.js';
import { crashPoint } from './crash-point.js';
import { readHolds } from './holds.js';
import type { JobFailure, JobRecord, PlannedStep } from './job.js';
import { assertLease, currentStep, writeFor, type LaneWork } from './lane-work.js';
import { PlanFailure, WalletEmptyError, type JobPlan } from './ports.js';

/** `again`: the job has moved on, read it anew. */
export type PlanOutcome = { outcome: 'planned'; step: PlannedStep } | Hindrance;

interface Hindrance {
  outcome: 'again' | 'waiting' | 'locked';
  step?: never;
}

/**
 * Plans the job's current step with fresh quotes, PLANNED or with its nonce taken and nothing signed, and checks
 * everything that must hold before it is signed. The steps that undo a job stand already as they are.
 */
export async function planStep(work: LaneWork, job: JobRecord): Promise<PlanOutcome> {
  if (job.ending?.undoing) {
    const step = currentStep(job);
    return step ? { outcome: 'planned', step } : { outcome: 'again' };
  }
  crashPoint('F3');
  const plan = await askPlanner(work, job);
  if (plan === null) return { outcome: 'waiting' };
  if (plan instanceof PlanFailure) return giveUpPlan(work, job, plan.failure);

  const stored = assertLease(
    await work.journal.putPlan({
      ...writeFor(work, job),
      steps: plan.steps,
      plan: plan.preview,
      floorsHash: plan.floorsHash,
      needsApproval: plan.needsApproval,
    }),
  );
  if (stored.outcome === 'refused') {
    return stored.reason === 'floors_changed' ? giveUpPlan(work, job, FLOORS_CHANGED) : { outcome: 'again' };
  }
  if (stored.state === 'AWAITING_APPROVAL') return { outcome: 'waiting' };

  const hindrance = (await takeApprovals(work, job, plan)) ?? (await countSpending(work, job, plan));
  if (hindrance) return hindrance;
  return skipIfDone(work, job, plan.steps[0]);
}

/** Null: not now, since the wallet cannot pay or the planner failed at this job a moment ago. */
async function askPlanner(work: LaneWork, job: JobRecord): Promise<JobPlan | PlanFailure | null> {
  const { planner, retries, wallet, lease } = work;
  if (wallet.isEmpty || retries.isPutOff(job.id)) return null;
  try {
    const plan = await planner.plan(job, { stepIndex: job.stepIndex, token: lease.token });
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

/** Ends the job, or begins to take back what it left behind. With its nonce taken, a cancel follows. */
export async function giveUpPlan(work: LaneWork, job: JobRecord, failure: JobFailure): Promise<Hindrance> {
  const undo = job.stepIndex > 0 && job.state !== 'RESERVED' ? await askUndo(work, job) : [];
  if (undo === null) return { outcome: 'waiting' };
  assertLease(
    await work.journal.failPlan({
      ...writeFor(work, job),
      failure,
      undo,
      givesBackSpending: job.stepIndex === 0,
    }),
  );
  return { outcome: 'again' };
}

/** The steps that take back what the job left behind; null: not now, as with plans. */
export async function askUndo({ planner, retries }: LaneWork, job: JobRecord): Promise<readonly PlannedStep[] | null> {
  if (retries.isPutOff(job.id)) return null;
  try {
    return (await planner.undo?.(job)) ?? [];
  } catch (error) {
    retries.putOff(job.id);
    throw error;
  }
}

async function takeApprovals(work: LaneWork, job: JobRecord, plan: JobPlan): Promise<Hindrance | null> {
  if (!plan.approvals?.length) return null;
  const lock = assertLease(await work.journal.lockApprovals({ ...writeFor(work, job), scopes: plan.approvals }));
  if (lock.outcome === 'done' && plan.reliesOnAllowance) return { outcome: 'again' };
  if (lock.outcome !== 'refused') return null;
  if (lock.reason !== 'locked') return { outcome: 'again' };
  // With a nonce taken it must not wait: everything that the wallet sends later would wait for it.
  return job.state === 'RESERVED' ? giveUpPlan(work, job, APPROVAL_HELD) : { outcome: 'locked' };
}

async function countSpending(work: LaneWork, job: JobRecord, plan: JobPlan): Promise<Hindrance | null> {
  if (!plan.spendings?.length) return null;
  const counted = assertLease(
    await work.journal.reserveSpending({ ...writeFor(work, job), spendings: plan.spendings }),
  );
  if (counted.outcome !== 'refused') return null;
  if (counted.reason !== 'over_limit') return { outcome: 'again' };
  const left = 'left' in counted ? `, ${counted.left} base units of ${counted.asset} are left` : '';
  return giveUpPlan(work, job, {
    code: 'DAILY_LIMIT',
    message: `The wallet may not spend that much on one day${left}.`,
    suggestion: 'Wait for the next day (UTC), or have the limit of the wallet raised.',
  });
}

async function skipIfDone(work: LaneWork, job: JobRecord, step: PlannedStep | undefined): Promise<PlanOutcome> {
  const isDone = !step || (step.holdsIf !== undefined && (await readHolds(work.chain, step.holdsIf)));
  if (step && (!isDone || job.state === 'RESERVED')) return { outcome: 'planned', step };
  assertLease(await work.journal.skipStep(writeFor(work, job)));
  return { outcome: 'again' };
}

const FLOORS_CHANGED: JobFailure = {
  code: 'FLOORS_CHANGED',
  message: 'Prices moved past what was agreed to, after the step had taken its nonce.',
  suggestion: 'Submit the job again; somebody has to agree to the new floors.',
};

const APPROVAL_HELD: JobFailure = {
  code: 'APPROVAL_HELD',
  message: 'Another job holds the allowance that this one came to need.',
  suggestion: 'Submit the job again once the other has ended.',
};
