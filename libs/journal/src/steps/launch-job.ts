import type { QuotedFees } from '@tollgate/protocol';

import { crashPoint } from '../crash-point.js';
import type { JobRecord, PlannedStep, StepRecord } from '../jobs/job.js';
import type { LaunchResult, SubmitNamedRequest, SubmitResult } from '../jobs/transition.js';
import type { LaneWork } from '../lanes/lane-work.js';
import { advanceJob, type AdvanceOutcome } from './advance-job.js';
import { broadcastAndWait, signAttempt, type StoredBytes } from './broadcast.js';
import { concludeStep } from './conclude-step.js';
import { readQuote } from './funds.js';

/** A job of one step that is planned before it is submitted. */
export interface PlannedJob extends SubmitNamedRequest {
  step: PlannedStep;
}

/** The job's bytes, signed under the nonce that its lane is expected to give out next. */
interface SignedJob {
  job: PlannedJob;
  nonce: number;
  fees: QuotedFees;
  bytes: StoredBytes;
}

/**
 * Signs a planned job, then writes everything at once: the job, its plan, its nonce, and the bytes if they have that
 * nonce. `written`: null if the job could not be signed and nothing was written; rejects if the outcome is unknown.
 * `carry`, called once that is known: sends what was written, and otherwise lets the job continue like any other.
 */
export function launchJob(
  work: LaneWork,
  job: PlannedJob,
): { written: Promise<SubmitResult | null>; carry: () => Promise<AdvanceOutcome> } {
  const signing = signJob(work, job);
  const storing = signing.then((signed) => signed && storeJob(work, signed));
  return {
    written: storing.then((stored) => stored && stored.submitted),
    carry: async () => {
      const [signed, stored] = [await signing, await storing.catch(() => null)];
      return signed && stored ? carryStored(work, signed, stored) : advanceJob(work, job.jobId);
    },
  };
}

/** Null: nonce or fees are not known. */
async function signJob(work: LaneWork, job: PlannedJob): Promise<SignedJob | null> {
  crashPoint('F3');
  const fees = await readQuote(work).catch(() => null);
  const nonce = fees && work.nextNonce.take();
  if (fees === null || nonce === null) return null;
  const bytes = await signAttempt(work, { kind: 'first', call: job.step, nonce, fees });
  return { job, nonce, fees, bytes };
}

async function storeJob(work: LaneWork, { job, nonce, fees, bytes }: SignedJob): Promise<LaunchResult> {
  const { step, ...named } = job;
  const stored = await work.journal.launchNamed({
    ...named,
    steps: [step],
    plan: null,
    floorsHash: 'none',
    token: work.lease.token,
    maxInFlight: work.settings.maxInFlight,
    nonce,
    attempt: { ...bytes, ...fees },
  });
  const { reserved } = stored;
  if (reserved === null || reserved.outcome === 'refused' || reserved.nonce !== nonce) work.nextNonce.forget();
  return stored;
}

async function carryStored(
  work: LaneWork,
  signed: SignedJob,
  { submitted, stored }: LaunchResult,
): Promise<AdvanceOutcome> {
  if (submitted.outcome === 'refused') return 'ended';
  crashPoint('F4');
  if (stored === null || stored.outcome === 'refused') return advanceJob(work, signed.job.jobId);
  crashPoint('F6');
  const flying = describe(signed);
  const sentAtMs = performance.now();
  const sent = await broadcastAndWait(work, flying.job, signed.bytes);
  // The step was voided just now: a cancel uses its nonce at once.
  if (sent === 'refused') return advanceJob(work, signed.job.jobId);
  if (typeof sent === 'string') return 'in_flight';
  work.pace.noteMined(performance.now() - sentAtMs);
  crashPoint('F8');
  // A block that has just been read with its receipt is one deep.
  const outcome = await concludeStep(work, flying, sent, { number: sent.blockNumber });
  return outcome === 'ended' ? 'ended' : 'in_flight';
}

/** The job as it was written a moment ago, with times from this process's clock. */
function describe({ job: planned, nonce, fees, bytes }: SignedJob): {
  job: JobRecord;
  step: StepRecord;
  nonce: number;
} {
  const { jobId: id, step: call, ...named } = planned;
  const nowMs = Date.now();
  const attempt = { ...bytes, ...fees, signedAtMs: nowMs, sentAtMs: null };
  const step: StepRecord = {
    ...call,
    nonce,
    attempts: [attempt],
    signature: null,
    mined: null,
    skipped: false,
    voided: false,
  };
  const times = { submittedAtMs: nowMs, updatedAtMs: nowMs, endedAtMs: null };
  const job: JobRecord = {
    id,
    ...named,
    ...times,
    fingerprint: '',
    retryOf: null,
    state: 'SIGNED',
    stepIndex: 0,
    steps: [step],
    plan: null,
    approval: null,
    ending: null,
    failure: null,
    cancelRefused: null,
    waiting: null,
    details: {},
  };
  return { job, step, nonce };
}
