import { sendLast } from './advance-job.js';
import { crashPoint } from './crash-point.js';
import { flightName } from './flight-watch.js';
import type { JobFailure, JobRecord, MinedAttempt, StepRecord } from './job.js';
import { assertLease, writeFor, type LaneWork } from './lane-work.js';
import { askUndo } from './plan-step.js';
import type { StepReceipt, StepVerdict } from './ports.js';
import type { Head } from './rpc/chain.js';
import type { Transition } from './transition.js';

/** A job's current step, with its nonce. */
export interface FlyingStep {
  job: JobRecord;
  step: StepRecord;
  nonce: number;
}

const REVERTED: JobFailure = {
  code: 'TRANSACTION_REVERTED',
  message: 'The transaction was mined and reverted.',
  suggestion: 'Look at the transaction, then submit the job again under a new idempotency key.',
};

/** Notes where a step was mined; at the depth that is asked, ends it by what its receipt says. */
export async function settleStep(
  work: LaneWork,
  { job, step }: FlyingStep,
  receipt: StepReceipt,
  head: Head,
): Promise<'ended' | 'look again' | 'settled' | 'wake'> {
  const write = writeFor(work, job);
  const { transactionHash: hash, blockNumber, blockHash } = receipt;
  if (step.mined?.hash !== hash || step.mined.blockHash !== blockHash) {
    const marked = assertLease(await work.journal.markMined({ ...write, mined: { hash, blockNumber, blockHash } }));
    if (marked.outcome === 'refused') return 'look again';
  }
  work.watch.noteMined(flightName(write));
  crashPoint('F10');
  if (head.number - blockNumber + 1 < work.settings.confirmations) return 'settled';
  return nextAfter(await endStep(work, { ...asMined(job, step, { hash, blockNumber, blockHash }), receipt }));
}

/** Its block is gone: the step waits for a block again, and the same bytes are sent. */
export async function putBackStep(
  work: LaneWork,
  { job, step }: FlyingStep,
  blockHash: StepReceipt['blockHash'],
): Promise<void> {
  const write = writeFor(work, job);
  const { outcome } = assertLease(await work.journal.unmine({ ...write, blockHash }));
  crashPoint('F11');
  work.watch.noteUnmined(flightName(write));
  const last = step.attempts.at(-1);
  if (outcome !== 'refused' && last) await sendLast(work, job, last);
}

/** The job as it stands in the journal once its step is noted as mined. */
function asMined(job: JobRecord, step: StepRecord, mined: MinedAttempt): { job: JobRecord; step: StepRecord } {
  const noted = { ...step, mined };
  return { job: { ...job, state: 'MINED', steps: job.steps.with(job.stepIndex, noted) }, step: noted };
}

async function endStep(
  work: LaneWork,
  { job, step, receipt }: { job: JobRecord; step: StepRecord; receipt: StepReceipt },
): Promise<Transition | 'later'> {
  const write = { ...writeFor(work, job), blockHash: receipt.blockHash };
  const verdict = await judge(work, { job, step, receipt });
  switch (verdict.outcome) {
    case 'done': {
      const isLast = job.stepIndex > 0 && job.stepIndex + 1 === job.steps.length;
      const undo = isLast && !job.ending ? await askUndo(work, job) : [];
      if (undo === null) return 'later';
      return assertLease(await work.journal.finishStep({ ...write, undo }));
    }
    case 'later':
      return 'later';
    case 'needs_operator':
      return assertLease(await work.journal.needOperator({ ...write, failure: verdict.failure }));
    case 'failed': {
      const undo = job.stepIndex > 0 && !job.ending?.undoing ? await askUndo(work, job) : [];
      if (undo === null) return 'later';
      // Reverted as the first step: nothing but gas was spent.
      const givesBackSpending = job.stepIndex === 0 && receipt.status === 'reverted';
      const { failure } = verdict;
      return assertLease(await work.journal.failStep({ ...write, failure, undo, givesBackSpending }));
    }
  }
}

async function judge(
  { judgeStep, lease, retries }: LaneWork,
  { job, step, receipt }: { job: JobRecord; step: StepRecord; receipt: StepReceipt },
): Promise<StepVerdict> {
  const attempt = step.attempts.find(({ hash }) => hash === receipt.transactionHash);
  // A cancel has done its work by using the nonce.
  if (attempt?.kind === 'cancel') return { outcome: 'done' };
  if (retries.isPutOff(job.id)) return { outcome: 'later' };
  const verdict = await judgeStep(job, step, receipt, { token: lease.token }).catch((error: unknown) => {
    retries.putOff(job.id);
    throw error;
  });
  retries.forget(job.id);
  if (receipt.status === 'success' || verdict.outcome === 'failed') return verdict;
  return { outcome: 'failed', failure: REVERTED };
}

function nextAfter(ended: Transition | 'later'): 'ended' | 'look again' | 'wake' {
  if (ended === 'later' || ended.outcome === 'refused') return 'look again';
  return ended.state === 'PLANNED' ? 'wake' : 'ended';
}
