import { broadcast, WALLET_IS_EMPTY } from './broadcast.js';
import type { LaneWork } from './lane-work.js';
import type { LaneStatus } from './transition.js';

/** Lets a lane go on whose cause to stand still is gone: Redis had restarted, or the wallet was empty. */
export async function tendLane(work: LaneWork): Promise<LaneStatus> {
  const { journal, lease } = work;
  const status = await journal.readLane(lease.lane);
  if (status.frozen === 'restarted' || status.frozen === 'lost') return thawLane(work, status);
  if (status.paused?.code === WALLET_IS_EMPTY.code && (await sendUnsent(work))) {
    await journal.resumeLane(lease.lane);
    return journal.readLane(lease.lane);
  }
  return status;
}

/** Compares the nonce counter with the chain, which may know of transactions that Redis has forgotten. */
async function thawLane({ journal, chain, lease }: LaneWork, status: LaneStatus): Promise<LaneStatus> {
  if (status.run === null) return status;
  const pendingNonce = await chain.readPendingNonce(lease.lane.address);
  await journal.thaw(lease.lane, { pendingNonce, run: status.run });
  return journal.readLane(lease.lane);
}

/** Offers what an empty wallet could not send again, in the order of the nonces. True: nothing is left unsent. */
async function sendUnsent(work: LaneWork): Promise<boolean> {
  const inFlight = await work.journal.readInFlight(work.lease.lane);
  const jobs = await work.journal.readJobs(inFlight.map(({ jobId }) => jobId));
  for (const job of jobs) {
    const last = job?.state === 'SIGNED' ? job.steps[job.stepIndex]?.attempts.at(-1) : undefined;
    if (!job || !last || last.raw === null) continue;
    const answer = await broadcast(work, job, { kind: last.kind, hash: last.hash, raw: last.raw });
    if (answer === 'insufficient_funds' || answer === 'unknown') return false;
  }
  return true;
}
