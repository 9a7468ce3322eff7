import { crashPoint } from '../crash-point.js';
import {
  isSigned,
  lastAttempt,
  type JobFailure,
  type JobRecord,
  type StepRecord,
  type WaitReason,
} from '../jobs/job.js';
import type { ReserveResult } from '../jobs/transition.js';
import { assertLease, currentStep, writeFor, type LaneWork } from '../lanes/lane-work.js';
import { putAttempt, sendStored } from './broadcast.js';
import { readQuote } from './funds.js';
import { giveUpPlan, planStep } from './plan-step.js';
import { replaceStep, resendStep } from './resend.js';
import { judgeSignature, signStep } from './signed-step.js';
import { nextWrite, placeOf } from './step-rules.js';
import { ANSWER, APPROVAL, explainError, explainNotTaken, lackOfRoom, tellWaiting } from './wait-reasons.js';

/**
 * `in_flight`: the signed bytes are stored and the confirming pass takes over. `locked`: another job holds
 * what it needs. `waiting`: for an approval, for the answer to a signed payment, or for the lane to resume.
 */
export type AdvanceOutcome = 'in_flight' | 'lane_full' | 'locked' | 'waiting' | 'ended';

const MAX_ROUNDS = 16;

/**
 * Advances a job from its current state: plans its current step, takes the nonce, signs, stores and sends. Any number
 * of processes may call it for the same job at once; the journal lets one win each time.
 * @throws LeaseLostError, ChainUnavailableError, StoreUnavailableError, or what the planner throws: try later
 */
export async function advanceJob(work: LaneWork, jobId: string): Promise<AdvanceOutcome> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const job = await work.journal.readJob(jobId);
    const outcome = job ? await advanceOrTell(work, job) : 'ended';
    if (outcome === 'ended') {
      work.retries.forget(jobId);
      work.presented.delete(jobId);
    }
    if (outcome !== 'again') return outcome;
  }
  return 'waiting';
}

/** Where the job does not move, its record says why. */
async function advanceOrTell(work: LaneWork, job: JobRecord): Promise<AdvanceOutcome | 'again'> {
  try {
    const outcome = await advanceFrom(work, job);
    if (outcome !== 'again') await tellWaiting(work, job, explainOutcome(work, job, outcome));
    return outcome;
  } catch (error) {
    await tellWaiting(work, job, explainError(work.planner, error));
    throw error;
  }
}

/** Undefined: something else tells for what the job waits, or it moves. */
function explainOutcome(work: LaneWork, job: JobRecord, outcome: AdvanceOutcome): WaitReason | undefined {
  switch (outcome) {
    case 'lane_full':
      return lackOfRoom(work);
    case 'locked':
      return work.planner.policy?.explainLock(work.locked.holderOf(job.id));
    case 'waiting':
      if (job.state === 'AWAITING_APPROVAL') return APPROVAL;
      if (isSigned(currentStep(job))) return work.retries.isPutOff(job.id) ? undefined : ANSWER;
      return job.state === 'RESERVED' ? (work.stop ?? undefined) : undefined;
    case 'in_flight':
      return explainNotTaken(work, job);
    case 'ended':
      return undefined;
  }
}

async function advanceFrom(work: LaneWork, job: JobRecord): Promise<AdvanceOutcome | 'again'> {
  const step = currentStep(job);
  const place = placeOf(job);
  const next = nextWrite(step?.isHurried ? 'too_slow' : 'read', place);
  switch (next) {
    case 'expireApproval':
      return expireApproval(work, job);
    case 'failPlan':
      return (await giveUpPlan(work, job, job.ending?.failure ?? null)).outcome;
    case 'beginStep':
    case 'reserve':
      return beginStep(work, job);
    case 'present':
      return isSigned(step) ? judgeSignature(work, job, step) : 'again';
    case 'putCancel':
    case 'putReplacement':
      return step ? replaceStep(work, job, step, next === 'putReplacement') : 'again';
    case 'send':
      return step ? sendUnsent(work, job, step) : 'again';
    case 'leave':
      return 'ended';
    case 'wait':
      return place === 'parked' ? 'waiting' : 'in_flight';
  }
}

async function expireApproval(work: LaneWork, job: JobRecord): Promise<AdvanceOutcome | 'again'> {
  const { approvalTimeoutMs: waitedMs } = work.settings;
  if (waitedMs === 0) return 'waiting';
  const expired = await work.journal.expireApproval({ ...writeFor(work, job), waitedMs, failure: APPROVAL_EXPIRED });
  assertLease(expired);
  if (expired.outcome !== 'refused') return 'again';
  return ['too_early', 'lane_frozen'].includes(expired.reason) ? 'waiting' : 'again';
}

/** Plans the step, takes its nonce unless it has one, signs it, stores the bytes and sends them. */
async function beginStep(work: LaneWork, job: JobRecord): Promise<AdvanceOutcome | 'again'> {
  const planned = await planStep(work, job);
  if (planned.outcome !== 'planned') return planned.outcome;
  const { step } = planned;
  if (step.signs) {
    const isNext = nextWrite('signs', placeOf(job)) === 'putSignature';
    return isNext ? signStep(work, job, { ...step, signs: step.signs }) : 'again';
  }

  const own = nextWrite('planned', placeOf(job)) === 'putFirst' ? currentStep(job)?.nonce : null;
  const nonce = own ?? (await takeNonce(work, job, planned.reserved));
  if (typeof nonce === 'string') return nonce;
  const fees = await readQuote(work);
  const stored = await putAttempt(work, { job, kind: 'first', call: step, nonce, expectedAttempts: 0, fees });
  return sendStored(work, job, stored);
}

/** The wallet's next nonce, which is the step's from now on. `asked`: the answer, if it was asked for with the plan. */
async function takeNonce(
  work: LaneWork,
  job: JobRecord,
  asked: ReserveResult | null,
): Promise<number | 'again' | 'lane_full' | 'waiting'> {
  const { maxInFlight } = work.settings;
  const reserved = assertLease(asked ?? (await work.journal.reserve({ ...writeFor(work, job), maxInFlight })));
  if (reserved.outcome === 'refused') {
    if (reserved.reason === 'lane_full') return 'lane_full';
    return ['lane_paused', 'lane_frozen', 'not_adopted'].includes(reserved.reason) ? 'waiting' : 'again';
  }
  crashPoint('F4');
  work.nextNonce.noteTaken(reserved.nonce);
  return reserved.state === 'RESERVED' ? reserved.nonce : 'again';
}

/** Sends stored bytes that no server is known to have. */
async function sendUnsent(work: LaneWork, job: JobRecord, step: StepRecord): Promise<AdvanceOutcome | 'again'> {
  if (lastAttempt(step)?.sentAtMs !== null || work.retries.isPutOff(job.id)) return 'in_flight';
  return (await resendStep(work, job, step)) === 'again' ? 'again' : 'in_flight';
}

const APPROVAL_EXPIRED: JobFailure = {
  code: 'APPROVAL_EXPIRED',
  message: 'The job was not approved in time.',
  suggestion: 'If it is still wanted, submit it again and have it approved sooner.',
};
