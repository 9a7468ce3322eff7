import { quoteFees, raiseFees } from '@tollgate/chain';

import type { Head } from '../chain/chain.js';
import { crashPoint } from '../crash-point.js';
import type { JobRecord, StepRecord } from '../jobs/job.js';
import { flightName } from '../lanes/flight-watch.js';
import { writeFor, type LaneWork } from '../lanes/lane-work.js';
import { broadcast, putAttempt } from './broadcast.js';

/**
 * Signs a waiting step again with higher fees, if it blocks the lane or its fees are too low to be mined. False: it is
 * not stuck, or the caps leave no room.
 */
export async function replaceStuck(
  work: LaneWork,
  { job, step, nonce }: { job: JobRecord; step: StepRecord; nonce: number },
  head: Head,
): Promise<boolean> {
  const last = step.attempts.at(-1);
  if (!last || !isStuck(work, job, step, nonce, head)) return false;
  const fees = raiseFees(last, quoteFees(head, work.settings), work.settings);
  if (!fees) return false;
  const stored = await putAttempt(work, {
    job,
    kind: step.voided ? 'cancel' : 'replacement',
    call: step,
    nonce,
    expectedAttempts: step.attempts.length,
    fees,
  });
  crashPoint('F9');
  if (stored) await broadcast(work, job, stored);
  return stored !== null;
}

function isStuck({ watch, settings, lease }: LaneWork, job: JobRecord, step: StepRecord, nonce: number, head: Head) {
  const last = step.attempts.at(-1);
  const flight = flightName(writeFor({ lease }, job));
  if (!last) return false;
  if (watch.isUnderpriced(flight)) return true;
  const isNext = nonce === head.minedNonce;
  const isTooCheap = last.maxFeePerGas < head.baseFeePerGas;
  return (isNext || isTooCheap) && watch.hasWaited(flight, last.hash, settings.replaceAfterMs);
}
