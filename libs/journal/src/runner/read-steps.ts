import type { JobRecord } from '../jobs/job.js';
import { UnreadableJobError } from '../jobs/parse-job.js';
import type { InFlightStep } from '../jobs/transition.js';
import { currentStep, type LaneWork } from '../lanes/lane-work.js';
import type { FlyingStep } from '../steps/conclude-step.js';

/** The steps in flight, of those jobs that are still at them. */
export async function readSteps(work: LaneWork, flights: readonly InFlightStep[]): Promise<FlyingStep[]> {
  const jobs = await Promise.all(flights.map(({ jobId }) => readReadable(work, jobId)));
  return flights.flatMap(({ nonce, stepIndex }, index) => {
    const job = jobs[index];
    const step = job && currentStep(job);
    return job && step && job.stepIndex === stepIndex ? [{ job, step, nonce }] : [];
  });
}

/** Null also for a job whose record cannot be read, which is reported: the other jobs of the lane do not wait for it. */
export async function readReadable({ journal, onTrouble }: LaneWork, jobId: string): Promise<JobRecord | null> {
  try {
    return await journal.readJob(jobId);
  } catch (error) {
    if (!(error instanceof UnreadableJobError)) throw error;
    onTrouble(error);
    return null;
  }
}
