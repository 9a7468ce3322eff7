import type { LaneId } from './job.js';
import type { Journal } from './journal.js';
import type { JobQueue } from './ports.js';

/** Wakes every open job of a lane, oldest first; those with a nonce first of all, since others wait behind them. */
export async function reconcileLane(journal: Journal, queue: JobQueue, lane: LaneId): Promise<void> {
  const [inFlight, open] = await Promise.all([journal.readInFlight(lane), journal.readOpenJobs(lane)]);
  for (const jobId of new Set([...inFlight.map((step) => step.jobId), ...open])) await queue.wake(jobId, lane);
}
