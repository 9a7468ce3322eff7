import { raiseFees } from '@tollgate/protocol';
import { parseTransaction } from 'viem';

import { lastAttempt, type JobRecord, type StepRecord } from '../jobs/job.js';
import { flightName } from '../lanes/flight-watch.js';
import { writeFor, type LaneWork } from '../lanes/lane-work.js';
import { broadcast, estimateCancel, putReplacement, sendStored } from './broadcast.js';
import { readQuote } from './funds.js';

/**
 * Signs the step again with higher fees; where it is given up, the zero-value transfer to the wallet itself that uses up
 * the nonce, unless an earlier attempt is mined first. Where the fee caps leave no room, it goes on as it was.
 * @param isHurried an operator asks for it
 */
export async function replaceStep(
  work: LaneWork,
  job: JobRecord,
  step: StepRecord,
  isHurried = false,
): Promise<'again' | 'in_flight' | 'waiting'> {
  const { settings, watch, onTrouble } = work;
  const quote = await readQuote(work);
  const last = lastAttempt(step);
  // What no server accepted needs no higher bid from a cancel. If every server refuses it, no other transaction competes
  // for the nonce.
  const isUnsent = step.attempts.every(({ sentAtMs }) => sentAtMs === null);
  const fees = (last && raiseFees(last, quote, settings)) ?? (isUnsent && !isHurried ? quote : null);
  if (fees) return sendStored(work, job, await putReplacement(work, job, step, fees));
  if (isHurried) onTrouble(new Error(`Job ${job.id} cannot be sped up: higher fees would be above the fee caps.`));
  // A cancel is sent until it is mined, or the caps are raised.
  if (isHurried || watch.isSentBefore(flightName(writeFor(work, job)), settings.resendAfterMs)) {
    await resendStep(work, job, step);
  }
  return 'in_flight';
}

/**
 * Sends the stored bytes of the attempt that counts. A cancel that no server has taken is signed again where the chain
 * asks for more gas than it offers. `again`: the job has moved on, read it again.
 */
export async function resendStep(
  work: LaneWork,
  job: JobRecord,
  step: StepRecord,
): Promise<'again' | 'in_flight' | 'waiting'> {
  const last = lastAttempt(step);
  if (!last || last.raw === null) return 'in_flight';
  if (last.kind === 'cancel' && last.sentAtMs === null) {
    const { gas: offered = 0n } = parseTransaction(last.raw);
    if ((await estimateCancel(work)) > offered) return replaceStep(work, job, step);
  }
  const { kind, hash, raw } = last;
  return (await broadcast(work, job, { kind, hash, raw })) === 'refused' ? 'again' : 'in_flight';
}
