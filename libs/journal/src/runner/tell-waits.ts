import { quoteFees, raiseFees } from '@tollgate/protocol';
import { formatGwei } from 'viem';

import type { Head } from '../chain/chain.js';
import { lastAttempt, type Attempt, type WaitReason, isSigned, type JobRecord } from '../jobs/job.js';
import { UnreadableJobError } from '../jobs/parse-job.js';
import type { InFlightStep } from '../jobs/transition.js';
import { flightName } from '../lanes/flight-watch.js';
import { writeFor, type LaneWork, currentStep } from '../lanes/lane-work.js';
import type { FlyingStep } from '../steps/conclude-step.js';
import { ANSWER, explainNotTaken, RPC_SUGGESTIONS, tellWaiting } from '../steps/wait-reasons.js';

/** Says of each step that was checked for what its transaction waits, where that is more than the next block. */
export async function tellFlights(
  work: LaneWork,
  flights: readonly FlyingStep[],
  { head, lowest }: { head: Head; lowest: InFlightStep | null },
): Promise<void> {
  const order = flights.toSorted((one, other) => one.nonce - other.nonce);
  const tell = (flying: FlyingStep): Promise<void> => {
    const isBehind = lowest !== null && flying.nonce > lowest.nonce && work.waits.has(flightName(lowest));
    const why = explainFlight(work, flying, head) ?? (isBehind ? behind(lowest) : null);
    return tellWaiting(work, flying.job, why);
  };
  // In the order of the nonces: each call notes at once what its job waits for, and those behind the lowest read that.
  await Promise.all(order.map(tell));
}

function behind({ jobId, nonce }: InFlightStep): WaitReason {
  return {
    code: 'earlier_job',
    message: `The transaction of job ${jobId} has an earlier nonce (${nonce}) and must be mined first.`,
    suggestion: 'See what that job waits for.',
  };
}

function explainFlight(work: LaneWork, flying: FlyingStep, head: Head): WaitReason | null {
  const { watch, gap, settings, stop } = work;
  const { job, step, nonce } = flying;
  const flight = flightName(writeFor(work, job));
  if (watch.isMined(flight)) return explainMined(work, flying, head);
  const last = lastAttempt(step);
  if (!last) return stop;
  if (nonce < head.minedNonce) return receiptMissing(nonce);
  if (gap.nonce !== null) return nonceGap(gap.nonce);
  const isWaiting = watch.isUnderpriced(flight) || last.maxFeePerGas < askedFee(head);
  const isStuck = nonce === head.minedNonce && watch.hasWaited(flight, last.hash, settings.replaceAfterMs);
  const hasRoom = raiseFees(last, quoteFees(head.fees, settings), settings) !== null;
  if ((isWaiting || isStuck) && !hasRoom) return feeAboveCap(work, last, head);
  return explainNotTaken(work, job) ?? null;
}

/** Its block is deep enough, and the step has not ended. */
function explainMined({ settings }: LaneWork, { step: { mined } }: FlyingStep, head: Head): WaitReason | null {
  return mined && head.number - mined.blockNumber + 1 >= settings.confirmations ? ANSWER : null;
}

function receiptMissing(nonce: number): WaitReason {
  return {
    code: 'rpc_lags',
    message: `The chain has a transaction with nonce ${nonce} of the wallet, and no RPC server shows the receipt of the job's yet.`,
    suggestion: RPC_SUGGESTIONS.rpc_lags,
  };
}

function nonceGap(nonce: number): WaitReason {
  return {
    code: 'nonce_gap',
    message: `No transaction of the wallet with nonce ${nonce} is on its way, and all later ones wait for it.`,
    suggestion: `Let an operator resume the job that has nonce ${nonce}, or fill the nonce: tollgate wallets fill.`,
  };
}

function feeAboveCap({ settings }: LaneWork, { maxFeePerGas }: Attempt, head: Head): WaitReason {
  const { maxFeePerGas: most, maxPriorityFeePerGas: mostPriority, names } = settings;
  const figures = `it offers ${formatGwei(maxFeePerGas)} gwei per gas, and the chain asks for ${formatGwei(askedFee(head))}`;
  const caps = `${formatGwei(most)} gwei in all (${names.maxFeePerGas}), ${formatGwei(mostPriority)} of them priority fee (${names.maxPriorityFeePerGas})`;
  return {
    code: 'fee_above_cap',
    message: `The transaction is not mined: ${figures}. The fee caps leave no room for more: ${caps}.`,
    suggestion: 'It goes on once the fees fall. If it must not wait, raise the caps and restart the process.',
  };
}

function askedFee({ fees }: Head): bigint {
  return fees.baseFeePerGas ?? fees.gasPrice;
}

/** How many of a lane's jobs say what it waits for. */
const MOST_TOLD = 100;

/**
 * Says of the oldest jobs for what their whole lane waits, once it has for a while; null: it does not. `all` concerns
 * those that have a nonce too.
 */
export async function tellLane(work: LaneWork, why: WaitReason | null, concerned: 'new' | 'all'): Promise<void> {
  const { journal, lease, settings, waits, onTrouble } = work;
  const forMs = waits.see('', why?.code ?? null);
  if (why === null || forMs < settings.waitingAfterMs || !waits.takeTurn(settings.waitingAfterMs)) return;
  try {
    const flying = concerned === 'all' ? (await journal.readInFlight(lease.lane)).map(({ jobId }) => jobId) : [];
    const open = await journal.readOpenJobs(lease.lane);
    const jobs = await journal.readEachJob([...new Set([...flying, ...open])].slice(0, MOST_TOLD));
    const told = jobs.filter(
      (job): job is JobRecord =>
        job !== null && !(job instanceof UnreadableJobError) && (flying.includes(job.id) || isHeldBack(work, job, why)),
    );
    await Promise.all(told.map((job) => tellWaiting(work, job, why, forMs)));
  } catch (error) {
    onTrouble(error);
  }
}

/** Nothing of its own keeps the job. */
function isHeldBack({ locked, retries }: LaneWork, job: JobRecord, { code }: WaitReason): boolean {
  // Signed bytes that the wallet cannot pay for are taken by no server.
  const isUnsent = job.state === 'PLANNED' || (code === 'balance' && ['RESERVED', 'SIGNED'].includes(job.state));
  return isUnsent && !isSigned(currentStep(job)) && !locked.has(job.id) && !retries.isPutOff(job.id);
}
