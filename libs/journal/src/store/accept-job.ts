import { crashPoint } from '../crash-point.js';
import type { LaneId } from '../jobs/job.js';
import type { JobQueue } from '../jobs/ports.js';
import type { SubmitRequest, SubmitResult } from '../jobs/transition.js';
import type { Journal } from './journal.js';

/**
 * Submits a job and wakes the process that runs it. If the wake-up is lost, the lane's holder finds the job by itself,
 * so a caller may report "accepted" as soon as this resolves.
 */
export async function acceptJob(
  { journal, queue }: { journal: Journal; queue: JobQueue },
  request: SubmitRequest & { lane: LaneId },
): Promise<SubmitResult> {
  crashPoint('F1');
  const result = await journal.submit(request);
  crashPoint('F2');
  if (result.outcome === 'accepted' || result.outcome === 'known') await queue.wake(result.jobId, request.lane);
  return result;
}
