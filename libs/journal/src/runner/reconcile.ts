import type { LaneId } from '../jobs/job.js';
import type { JobQueue } from '../jobs/ports.js';
import type { Journal } from '../store/journal.js';

/**
 * Wakes every open job of a lane, oldest first. Jobs with a nonce come before all others, since later nonces wait
 * behind theirs.
 */
export async function reconcileLane(journal: Journal, queue: JobQueue, lane: LaneId): Promise<void> {
  const [inFlight, open] = await Promise.all([journal.readInFlight(lane), journal.readOpenJobs(lane)]);
  for (const jobId of new Set([...inFlight.map((step) => step.jobId), ...open])) await queue.wake(jobId, lane);
}
