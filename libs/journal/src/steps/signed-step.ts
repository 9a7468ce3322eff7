import { crashPoint } from '../crash-point.js';
import { nextSignature, type JobRecord, type PlannedStep, type SignedStep } from '../jobs/job.js';
import type { SignatureVerdict } from '../jobs/ports.js';
import { assertLease, writeFor, type LaneWork } from '../lanes/lane-work.js';
import { nextWrite, placeOf } from './step-rules.js';

/**
 * Signs a planned payment and stores the signature, which leaves this process only afterwards. The journal takes one
 * while no other of the step can move money, so whatever was signed and not stored is worth nothing.
 */
export async function signStep(
  work: LaneWork,
  job: JobRecord,
  signed: PlannedStep & Pick<SignedStep, 'signs'>,
): Promise<'again' | 'waiting'> {
  const { journal, signer, chain } = work;
  crashPoint('F4');
  const bytes = await signer.signPayment(signed.signs, chain.chainId);
  crashPoint('F5');
  crashPoint('F12');
  const write = { ...writeFor(work, job), number: nextSignature(job), signed, bytes };
  const stored = assertLease(await journal.putSignature(write));
  if (stored.outcome !== 'refused') crashPoint('F6');
  return stored.outcome === 'refused' && ['lane_frozen', 'lane_paused'].includes(stored.reason) ? 'waiting' : 'again';
}

/** Presents the stored signature, and ends or repeats its step once its outcome is known. */
export async function judgeSignature(
  work: LaneWork,
  job: JobRecord,
  step: SignedStep,
): Promise<'again' | 'ended' | 'waiting'> {
  const { journal, presented, retries } = work;
  if (retries.isPutOff(job.id)) return 'waiting';
  const verdict = await askJudge(work, job, step);
  if (verdict.outcome === 'later') return 'waiting';
  presented.delete(job.id);
  const write = writeFor(work, job);
  switch (nextWrite(FACTS[verdict.outcome], placeOf(job))) {
    case 'needOperator':
      if ('failure' in verdict) assertLease(await journal.needOperator({ ...write, failure: verdict.failure }));
      return 'again';
    case 'finishSignature': {
      const { number } = step.signature;
      const ended = await journal.finishSignature({ ...write, number, isVoid: verdict.outcome === 'void' });
      crashPoint('F10');
      return assertLease(ended).outcome === 'done' && ended.state === 'FINAL' ? 'ended' : 'again';
    }
    case 'wait':
      return 'again';
  }
}

const FACTS = { done: 'paid', void: 'unpaid', needs_operator: 'paid_in_doubt' } as const;

/** `later` also where the judge failed; it is then asked again after a growing delay. */
async function askJudge(
  { planner, lease, retries, presented, onTrouble }: LaneWork,
  job: JobRecord,
  step: SignedStep,
): Promise<SignatureVerdict> {
  try {
    if (!planner.judgeSignature) throw new TypeError('The planner judges no signatures.');
    const verdict = await planner.judgeSignature(job, step, { token: lease.token });
    retries.forget(job.id);
    presented.add(job.id);
    return verdict;
  } catch (error) {
    presented.delete(job.id);
    retries.putOff(job.id);
    onTrouble(error);
    return { outcome: 'later' };
  }
}
