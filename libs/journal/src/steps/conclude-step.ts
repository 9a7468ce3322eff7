import type { Head } from '../chain/chain.js';
import { crashPoint } from '../crash-point.js';
import type { JobFailure, JobRecord, MinedAttempt, StepRecord } from '../jobs/job.js';
import type { StepReceipt, StepVerdict } from '../jobs/ports.js';
import type { Transition, TransactionReport } from '../jobs/transition.js';
import { flightName } from '../lanes/flight-watch.js';
import { assertLease, writeFor, type LaneWork } from '../lanes/lane-work.js';
import { askUndo } from './plan-step.js';
import { resendStep } from './resend.js';
import { nextWrite, placeOf } from './step-rules.js';

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

const FACTS = { done: 'succeeded', later: 'mined', failed: 'failed', needs_operator: 'mined_in_doubt' } as const;

/** Notes in which block a step was mined; once it is deep enough, ends the step according to its receipt. */
export async function concludeStep(
  work: LaneWork,
  flying: FlyingStep,
  receipt: StepReceipt,
  head: Pick<Head, 'number'>,
): Promise<'checked' | 'ended' | 'look again' | 'wake'> {
  const isDeep = head.number - receipt.blockNumber + 1 >= work.settings.confirmations;
  const verdict = isDeep ? await judge(work, flying, receipt) : null;
  const next = nextWrite(verdict ? FACTS[verdict.outcome] : 'mined', placeOf(flying.job));
  const ended = next === 'finishMined' ? await finish(work, flying, receipt) : null;
  if (ended === null && !(await noteMined(work, flying, receipt))) return 'look again';
  const waitedMs = work.watch.noteMined(flightName(writeFor(work, flying.job)));
  if (waitedMs !== null) work.pace.noteMined(waitedMs);
  crashPoint('F10');
  if (verdict === null) return 'checked';
  return nextAfter(ended ?? (await endOtherwise(work, flying, receipt, verdict)));
}

/** Its block left the chain: the step waits for a block again, and the same bytes are sent. */
export async function putBackStep(
  work: LaneWork,
  { job, step }: FlyingStep,
  blockHash: StepReceipt['blockHash'],
): Promise<void> {
  if (nextWrite('reorganized', placeOf(job)) !== 'unmine') return;
  const write = writeFor(work, job);
  const { outcome } = assertLease(await work.journal.unmine({ ...write, blockHash }));
  crashPoint('F11');
  work.watch.noteUnmined(flightName(write));
  if (outcome !== 'refused') await resendStep(work, job, step);
}

/** False: the journal has moved on meanwhile. */
async function noteMined(work: LaneWork, { job, step }: FlyingStep, receipt: StepReceipt): Promise<boolean> {
  const mined = minedBy(receipt);
  if (step.mined?.hash === mined.hash && step.mined.blockHash === mined.blockHash) return true;
  return assertLease(await work.journal.markMined({ ...writeFor(work, job), mined })).outcome !== 'refused';
}

/** Null: the steps that revoke what is left cannot be planned now. */
async function finish(work: LaneWork, flying: FlyingStep, receipt: StepReceipt): Promise<Transition | null> {
  const { job } = flying;
  const isLast = job.stepIndex > 0 && job.stepIndex + 1 === job.steps.length;
  // A job that was cancelled too late has succeeded, and leaves the same allowances behind.
  const undo = isLast && !job.ending?.undoing ? await askUndo(work, job) : [];
  if (undo === null) return null;
  const report = describe(work, flying, receipt);
  return assertLease(await work.journal.finishMined({ ...writeFor(work, job), mined: minedBy(receipt), undo, report }));
}

/** A transaction is reported when its step ends, which is when its block is deep enough. */
function describe(
  { report }: LaneWork,
  { job, step, nonce }: FlyingStep,
  receipt: StepReceipt,
): TransactionReport | null {
  return report && report(job, { ...step, nonce }, receipt);
}

/** Ends a step that is mined and did not succeed, or whose outcome is not known yet. */
async function endOtherwise(
  work: LaneWork,
  flying: FlyingStep,
  receipt: StepReceipt,
  verdict: StepVerdict,
): Promise<Transition | 'later'> {
  if (!('failure' in verdict)) return 'later';
  const { job } = flying;
  const { failure } = verdict;
  const write = { ...writeFor(work, job), blockHash: receipt.blockHash };
  if (nextWrite(FACTS[verdict.outcome], 'mined') === 'parkMined') {
    // Reported now: an operator may abandon the job, which ends without another look at the chain.
    return assertLease(await work.journal.parkMined({ ...write, failure, report: describe(work, flying, receipt) }));
  }
  const undo = job.stepIndex > 0 && !job.ending?.undoing ? await askUndo(work, job) : [];
  if (undo === null) return 'later';
  // The first step reverted: nothing but gas was spent.
  const givesBackSpending = job.stepIndex === 0 && receipt.status === 'reverted';
  const report = describe(work, flying, receipt);
  return assertLease(await work.journal.failStep({ ...write, failure, undo, givesBackSpending, report }));
}

async function judge(work: LaneWork, { job, step }: FlyingStep, receipt: StepReceipt): Promise<StepVerdict> {
  const attempt = step.attempts.find(({ hash }) => hash === receipt.transactionHash);
  // A cancel has done its work by using up the nonce.
  if (attempt?.kind === 'cancel') return { outcome: 'done' };
  const verdict = await askJudge(work, job, step, receipt);
  if (verdict === null) return { outcome: 'later' };
  if (receipt.status === 'success' || verdict.outcome === 'failed') return verdict;
  return { outcome: 'failed', failure: REVERTED };
}

/** The judge sees the job as the journal has it once the step is noted as mined. Null: the judge failed. */
async function askJudge(
  { judgeStep, lease, retries, onTrouble }: LaneWork,
  job: JobRecord,
  step: StepRecord,
  receipt: StepReceipt,
): Promise<StepVerdict | null> {
  if (retries.isPutOff(job.id)) return null;
  const noted = { ...step, mined: minedBy(receipt) };
  const asMined: JobRecord = { ...job, state: 'MINED', steps: job.steps.with(job.stepIndex, noted) };
  try {
    const verdict = await judgeStep(asMined, noted, receipt, { token: lease.token });
    retries.forget(job.id);
    return verdict;
  } catch (error) {
    retries.putOff(job.id);
    onTrouble(error);
    return null;
  }
}

function minedBy({ transactionHash, blockNumber, blockHash }: StepReceipt): MinedAttempt {
  return { hash: transactionHash, blockNumber, blockHash };
}

function nextAfter(ended: Transition | 'later'): 'ended' | 'look again' | 'wake' {
  if (ended === 'later' || ended.outcome === 'refused') return 'look again';
  return ended.state === 'PLANNED' ? 'wake' : 'ended';
}
