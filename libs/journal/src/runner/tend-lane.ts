import type { Attempt, JobRecord, LaneId } from '../jobs/job.js';
import { WalletEmptyError, type JobQueue } from '../jobs/ports.js';
import type { LaneStatus } from '../jobs/transition.js';
import { currentStep, type LaneWork } from '../lanes/lane-work.js';
import { broadcast, WALLET_IS_EMPTY } from '../steps/broadcast.js';
import type { Journal } from '../store/journal.js';

/** Resumes a lane when the reason for its stop is gone: Redis had restarted, or the wallet was empty. */
export async function tendLane(work: LaneWork): Promise<LaneStatus> {
  const { journal, lease, wallet, settings } = work;
  const status = await journal.readLane(lease.lane);
  if (status.frozen === 'restarted' || status.frozen === 'lost') return thawLane(work, status);
  if (status.paused?.code !== WALLET_IS_EMPTY.code) {
    wallet.forget();
    return status;
  }
  if (!wallet.takeTurn(settings.emptyWalletMs) || !(await canPayAgain(work))) return status;
  await journal.resumeLane(lease.lane, WALLET_IS_EMPTY);
  wallet.forget();
  return journal.readLane(lease.lane);
}

/** Compares the nonce counter with the chain, which may have transactions that Redis has lost. */
async function thawLane({ journal, chain, lease }: LaneWork, status: LaneStatus): Promise<LaneStatus> {
  if (status.run === null) return status;
  const pendingNonce = await chain.readPendingNonce(lease.lane.address);
  await journal.thaw(lease.lane, { pendingNonce, run: status.run });
  return journal.readLane(lease.lane);
}

/** Checks the balance before the lane resumes; otherwise every waiting job would find the wallet empty again. */
async function canPayAgain(work: LaneWork): Promise<boolean> {
  return (await sendUnsent(work)) && (await canPlan(work));
}

/**
 * Sends again what the empty wallet could not pay for, in the order of the nonces. True: the wallet can pay for all of
 * it.
 */
async function sendUnsent(work: LaneWork): Promise<boolean> {
  const inFlight = await work.journal.readInFlight(work.lease.lane);
  const jobs = await work.journal.readJobs(inFlight.map(({ jobId }) => jobId));
  for (const job of jobs) {
    const last = job?.state === 'SIGNED' ? job.steps[job.stepIndex]?.attempts.at(-1) : undefined;
    if (!job || !last || last.raw === null) continue;
    const answer = await broadcast(work, job, { kind: last.kind, hash: last.hash, raw: last.raw });
    if (answer === 'insufficient_funds') return false;
    // Any other reason for which the servers do not accept it says nothing about the wallet, and may last.
    if (answer === 'unknown' && (await work.chain.readBalance(work.signer.address)) < costOf(work, job, last))
      return false;
  }
  return true;
}

/** The most wei that an attempt can cost. */
function costOf({ settings }: LaneWork, job: JobRecord, { kind, maxFeePerGas }: Attempt): bigint {
  const step = currentStep(job);
  const { gas, value } = step && kind !== 'cancel' ? step : { gas: settings.cancelGas, value: 0n };
  return value + gas * maxFeePerGas;
}

/**
 * Asks the planner about the job whose plan was too expensive, or the first that waits. The plan itself is made again
 * later.
 */
async function canPlan({ journal, planner, lease, wallet }: LaneWork): Promise<boolean> {
  const jobId = wallet.jobId ?? (await journal.readOpenJobs(lease.lane))[0];
  const job = jobId === undefined ? null : await journal.readJob(jobId);
  if (!job || !isToBePlanned(job)) {
    wallet.jobId = null;
    return true;
  }
  try {
    await planner.plan(job, { stepIndex: job.stepIndex, token: lease.token });
  } catch (error) {
    // Any other error of this job is handled once the lane resumes.
    return !(error instanceof WalletEmptyError);
  }
  return true;
}

function isToBePlanned(job: JobRecord): boolean {
  if (job.ending) return false;
  return job.state === 'PLANNED' || (job.state === 'RESERVED' && currentStep(job)?.attempts.length === 0);
}

/**
 * Wakes every open job of a lane, oldest first. Jobs with a nonce come before all others, since later nonces wait
 * behind theirs.
 */
export async function reconcileLane(journal: Journal, queue: JobQueue, lane: LaneId): Promise<void> {
  const [inFlight, open] = await Promise.all([journal.readInFlight(lane), journal.readOpenJobs(lane)]);
  for (const jobId of new Set([...inFlight.map((step) => step.jobId), ...open])) await queue.wake(jobId, lane);
}
