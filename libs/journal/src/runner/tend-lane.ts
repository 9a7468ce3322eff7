import { raiseFees } from '@tollgate/protocol';

import { lastAttempt, type JobRecord, type LaneId } from '../jobs/job.js';
import { WalletEmptyError, type JobQueue } from '../jobs/ports.js';
import type { LaneStatus } from '../jobs/transition.js';
import { assertLease, currentStep, writeFor, type LaneWork } from '../lanes/lane-work.js';
import { advanceJob } from '../steps/advance-job.js';
import { broadcast } from '../steps/broadcast.js';
import type { FlyingStep } from '../steps/conclude-step.js';
import { costOf, findLack, makePlan, readQuote } from '../steps/funds.js';
import { WALLET_IS_EMPTY } from '../steps/wait-reasons.js';
import type { Journal } from '../store/journal.js';
import { readReadable, readSteps } from './read-steps.js';

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
async function thawLane({ journal, chain, lease, settings }: LaneWork, status: LaneStatus): Promise<LaneStatus> {
  const { lane } = lease;
  if (status.run === null) return status;
  const [head, pendingNonce] = await Promise.all([chain.readHead(lane.address), chain.readPendingNonce(lane.address)]);
  await journal.thaw(lane, { pendingNonce, blockNumber: head.number, run: status.run }, settings);
  return journal.readLane(lane);
}

/** Checks the balance before the lane resumes; otherwise every waiting job would find the wallet empty again. */
async function canPayAgain(work: LaneWork): Promise<boolean> {
  return (await sendUnsent(work)) && (await canPlan(work));
}

/**
 * Sends again what the wallet could not pay for, in the order of the nonces, and gives up a job that alone asks for too
 * much. True: the wallet can pay for all the others.
 */
async function sendUnsent(work: LaneWork): Promise<boolean> {
  const { journal, chain, lease, signer } = work;
  const { minedNonce } = await chain.readHead(signer.address);
  // The lowest nonce that is neither used nor given up nor unsigned. A node counts what is in its pool, so a step above it may be
  // refused only until those below are mined.
  let next = minedNonce;
  for (const flying of await readSteps(work, await journal.readInFlight(lease.lane))) {
    const { job, step, nonce } = flying;
    const last = lastAttempt(step);
    // It is signed once the lane is resumed.
    if (!last && nonce === next) next++;
    // A node may have dropped bytes that it had accepted, because an earlier transaction took what they need.
    const isUnsent = job.state === 'SIGNED' || (job.state === 'BROADCAST' && nonce === next);
    if (!isUnsent || !last || last.raw === null) continue;
    const answer = await broadcast(work, job, { kind: last.kind, hash: last.hash, raw: last.raw });
    if (answer === 'insufficient_funds') {
      const lack = nonce === next ? await giveUpStep(work, flying) : 'unknown';
      if (lack === 'given up') next++;
      // If a node has accepted the bytes before, it may be only their replacement that is too expensive.
      else if (lack !== 'none' || job.state === 'SIGNED') return false;
    }
    // Any other reason for which the servers do not accept it says nothing about the wallet, and may last.
    if (answer === 'unknown' && (await chain.readBalance(signer.address)) < costOf(work, job, last)) return false;
  }
  return true;
}

/**
 * Gives up a step that the wallet cannot pay for, if it could pay for others; a cancel uses its nonce. All attempts are
 * watched until then: one that a node has accepted after all may still be mined in its place. `unknown`: the wallet is
 * empty, or the step cannot be cancelled safely. `none`: the balance covers an attempt that may be mined.
 */
async function giveUpStep(work: LaneWork, { job, step }: FlyingStep): Promise<'given up' | 'none' | 'unknown'> {
  const { journal, settings } = work;
  const [first] = step.attempts;
  const last = lastAttempt(step);
  if (!first || !last || last.kind === 'cancel') return 'unknown';
  const quote = await readQuote(work);
  // A cancel could not take the place of bytes that a node may hold.
  const isSent = step.attempts.some(({ sentAtMs }) => sentAtMs !== null);
  if (isSent && raiseFees(last, quote, settings) === null) return 'unknown';
  const price = quote.maxFeePerGas > last.maxFeePerGas ? quote.maxFeePerGas : last.maxFeePerGas;
  // Replacements cost more than the first attempt, which may still be mined if a node has accepted it.
  const failure = await findLack(work, costOf(work, job, isSent ? first : last), price);
  if (failure === null) return 'none';
  if (failure === 'empty') return 'unknown';
  const write = { ...writeFor(work, job), hash: last.hash, failure, givesBackSpending: job.stepIndex === 0 };
  if (assertLease(await journal.failAttempt({ ...write, evenIfSent: true })).outcome === 'refused') return 'unknown';
  await advanceJob(work, job.id);
  return 'given up';
}

/**
 * Asks the planner about the job whose plan was too expensive, or the first that waits. The plan itself is made again
 * later.
 */
async function canPlan(work: LaneWork): Promise<boolean> {
  const { journal, lease, wallet } = work;
  const jobId = wallet.jobId ?? (await journal.readOpenJobs(lease.lane))[0];
  const job = jobId === undefined ? null : await readReadable(work, jobId);
  if (!job || !isToBePlanned(job)) {
    wallet.jobId = null;
    return true;
  }
  try {
    await makePlan(work, job);
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
