import { raiseFees } from '@tollgate/protocol';
import { parseTransaction } from 'viem';

import { lastAttempt, type JobRecord, type StepRecord } from '../jobs/job.js';
import { flightName } from '../lanes/flight-watch.js';
import { writeFor, type LaneWork } from '../lanes/lane-work.js';
import { broadcast, estimateCancel, putReplacement, sendStored } from './broadcast.js';
import { readQuote } from './funds.js';

/** Replaces the last attempt by one with higher fees. Where the caps leave no room, it goes on as it was. */
export async function hurryStep(
  work: LaneWork,
  job: JobRecord,
  step: StepRecord,
): Promise<'again' | 'in_flight' | 'waiting'> {
  const last = lastAttempt(step);
  const fees = last ? raiseFees(last, await readQuote(work), work.settings) : null;
  if (fees) return sendStored(work, job, await putReplacement(work, job, step, fees));
  work.onTrouble(new Error(`Job ${job.id} cannot be sped up: higher fees would be above the fee caps.`));
  await resendStep(work, job, step);
  return 'in_flight';
}

/** A zero-value transfer to the wallet itself uses up the nonce, unless an earlier attempt is mined first. */
export async function cancelStep(
  work: LaneWork,
  job: JobRecord,
  step: StepRecord,
): Promise<'again' | 'in_flight' | 'waiting'> {
  const quote = await readQuote(work);
  const last = step.attempts.at(-1);
  const raised = last ? raiseFees(last, quote, work.settings) : quote;
  // An attempt that no server accepted needs no higher bid. If every server refuses it, no other transaction competes
  // for the nonce.
  const isSent = step.attempts.some(({ sentAtMs }) => sentAtMs !== null);
  const fees = raised ?? (isSent ? null : quote);
  if (fees) return sendStored(work, job, await putReplacement(work, job, step, fees));
  // The fee caps leave no room: the earlier attempt is sent until it is mined, or the caps are raised.
  if (work.watch.isSentBefore(flightName(writeFor(work, job)), work.settings.resendAfterMs))
    await resendStep(work, job, step);
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
    if ((await estimateCancel(work)) > offered) return cancelStep(work, job, step);
  }
  const { kind, hash, raw } = last;
  return (await broadcast(work, job, { kind, hash, raw })) === 'refused' ? 'again' : 'in_flight';
}
