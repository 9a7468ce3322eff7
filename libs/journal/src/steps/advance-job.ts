import { raiseFees } from '@tollgate/protocol';

import { crashPoint } from '../crash-point.js';
import {
  isSigned,
  type Attempt,
  type JobFailure,
  type JobRecord,
  type PlannedStep,
  type StepRecord,
  type WaitReason,
} from '../jobs/job.js';
import { flightName } from '../lanes/flight-watch.js';
import { assertLease, currentStep, writeFor, type LaneWork } from '../lanes/lane-work.js';
import { broadcast, putAttempt, putReplacement, type StoredBytes } from './broadcast.js';
import { readQuote } from './funds.js';
import { giveUpPlan, planStep } from './plan-step.js';
import { judgeSignature, signStep } from './signed-step.js';
import { ANSWER, APPROVAL, explainError, explainNotTaken, lackOfRoom, tellWaiting } from './wait-reasons.js';

/**
 * `in_flight`: the signed bytes are stored and the confirming pass takes over. `locked`: another job holds the
 * allowance. `waiting`: for an approval, for the answer to a signed payment, or for the lane to resume.
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
      return {
        code: 'allowance',
        message: `Job ${work.locked.holderOf(job.id) ?? 'of the same wallet'} uses an allowance that this job needs too.`,
        suggestion: 'It goes on once that job has ended. If that one waits, see what for.',
      };
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
  switch (job.state) {
    case 'PLANNED':
      return beginStep(work, job);
    case 'RESERVED':
    case 'SIGNED':
    case 'BROADCAST':
      return resumeStep(work, job);
    case 'MINED':
      return 'in_flight';
    case 'AWAITING_APPROVAL':
      return awaitApproval(work, job);
    case 'NEEDS_OPERATOR':
      return 'waiting';
    case 'FINAL':
    case 'REVERTED':
    case 'CANCELLED':
    case 'REJECTED':
    case 'PLAN_FAILED':
      return 'ended';
  }
}

async function awaitApproval(work: LaneWork, job: JobRecord): Promise<AdvanceOutcome | 'again'> {
  const { approvalTimeoutMs: waitedMs } = work.settings;
  if (waitedMs === 0) return 'waiting';
  const expired = await work.journal.expireApproval({ ...writeFor(work, job), waitedMs, failure: APPROVAL_EXPIRED });
  assertLease(expired);
  if (expired.outcome !== 'refused') return 'again';
  return ['too_early', 'lane_frozen'].includes(expired.reason) ? 'waiting' : 'again';
}

async function beginStep(work: LaneWork, job: JobRecord): Promise<AdvanceOutcome | 'again'> {
  if (job.ending && !job.ending.undoing) {
    const { outcome } = await giveUpPlan(work, job, job.ending.failure);
    return outcome;
  }
  const planned = await planStep(work, job);
  if (planned.outcome !== 'planned') return planned.outcome;
  const { step } = planned;
  if (step.signs) return signStep(work, job, { ...step, signs: step.signs });

  const { maxInFlight } = work.settings;
  const reserved = planned.reserved ?? (await work.journal.reserve({ ...writeFor(work, job), maxInFlight }));
  assertLease(reserved);
  if (reserved.outcome === 'refused') {
    if (reserved.reason === 'lane_full') return 'lane_full';
    const isLane = ['lane_paused', 'lane_frozen', 'not_adopted'].includes(reserved.reason);
    return isLane ? 'waiting' : 'again';
  }
  crashPoint('F4');
  work.nextNonce.noteTaken(reserved.nonce);
  if (reserved.state !== 'RESERVED') return 'again';
  return signFirst(work, job, step, reserved.nonce);
}

/** Continues a step that has a nonce: signs it if unsigned, cancels it if voided, and sends it. */
async function resumeStep(work: LaneWork, job: JobRecord): Promise<AdvanceOutcome | 'again'> {
  const step = currentStep(job);
  if (isSigned(step)) return judgeSignature(work, job, step);
  if (!step || step.nonce === null) return 'waiting';
  const last = step.attempts.at(-1);
  if (step.voided && last?.kind !== 'cancel') return cancelStep(work, job, step, step.nonce);
  if (!last) {
    const { outcome, step: planned } = await planStep(work, job);
    return outcome === 'planned' ? signFirst(work, job, planned, step.nonce) : outcome;
  }
  if (step.isHurried) return hurryStep(work, job, step, step.nonce, last);
  if (job.state === 'SIGNED') await sendLast(work, job, last);
  return 'in_flight';
}

/** Replaces the last attempt by one with higher fees. Where the caps leave no room, it goes on as it was. */
async function hurryStep(
  work: LaneWork,
  job: JobRecord,
  step: StepRecord,
  nonce: number,
  last: Attempt,
): Promise<AdvanceOutcome | 'again'> {
  const fees = raiseFees(last, await readQuote(work), work.settings);
  if (!fees) {
    work.onTrouble(new Error(`Job ${job.id} cannot be sped up: higher fees would be above the fee caps.`));
    await sendLast(work, job, last);
    return 'in_flight';
  }
  const stored = await putReplacement(work, job, { step, nonce, fees });
  return stored ? sendStored(work, job, stored) : afterRefusal(work);
}

async function signFirst(
  work: LaneWork,
  job: JobRecord,
  call: PlannedStep,
  nonce: number,
): Promise<AdvanceOutcome | 'again'> {
  const fees = await readQuote(work);
  const stored = await putAttempt(work, { job, kind: 'first', call, nonce, expectedAttempts: 0, fees });
  return stored ? sendStored(work, job, stored) : afterRefusal(work);
}

/** A zero-value transfer to the wallet itself uses up the nonce, unless an earlier attempt is mined first. */
async function cancelStep(
  work: LaneWork,
  job: JobRecord,
  step: StepRecord,
  nonce: number,
): Promise<AdvanceOutcome | 'again'> {
  const quote = await readQuote(work);
  const last = step.attempts.at(-1);
  const raised = last ? raiseFees(last, quote, work.settings) : quote;
  // An attempt that no server accepted needs no higher bid. If every server refuses it, no other transaction competes
  // for the nonce.
  const isSent = step.attempts.some(({ sentAtMs }) => sentAtMs !== null);
  const fees = raised ?? (isSent ? null : quote);
  // The fee caps leave no room: the earlier attempt is sent until it is mined, or the caps are raised.
  if (!fees) {
    const isDropped = work.watch.isSentBefore(flightName(writeFor(work, job)), work.settings.resendAfterMs);
    if (last && isDropped) await sendLast(work, job, last);
    return 'in_flight';
  }
  const expectedAttempts = step.attempts.length;
  const stored = await putAttempt(work, { job, kind: 'cancel', call: step, nonce, expectedAttempts, fees });
  return stored ? sendStored(work, job, stored) : afterRefusal(work);
}

async function sendStored(work: LaneWork, job: JobRecord, stored: StoredBytes): Promise<AdvanceOutcome | 'again'> {
  crashPoint('F6');
  const answer = await broadcast(work, job, stored);
  // The step was voided just now: a cancel uses its nonce at once.
  return answer === 'refused' ? 'again' : 'in_flight';
}

/** Sends the stored bytes of the last attempt again. */
export async function sendLast(work: LaneWork, job: JobRecord, { kind, hash, raw }: Attempt): Promise<void> {
  if (raw !== null) await broadcast(work, job, { kind, hash, raw });
}

/**
 * The journal did not store an attempt. The lane may be waiting for the next look at the chain; otherwise read the job
 * again.
 */
async function afterRefusal({ journal, lease }: LaneWork): Promise<AdvanceOutcome | 'again'> {
  return (await journal.readLane(lease.lane)).frozen === null ? 'again' : 'waiting';
}

const APPROVAL_EXPIRED: JobFailure = {
  code: 'APPROVAL_EXPIRED',
  message: 'The job was not approved in time.',
  suggestion: 'If it is still wanted, submit it again and have it approved sooner.',
};
