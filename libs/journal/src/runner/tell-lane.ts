import { isSigned, type JobRecord, type WaitReason } from '../jobs/job.js';
import { UnreadableJobError } from '../jobs/parse-job.js';
import { currentStep, type LaneWork } from '../lanes/lane-work.js';
import { tellWaiting } from '../steps/wait-reasons.js';

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
