import type { Chain } from '../chain/chain.js';
import type { JobRecord, StepRecord } from '../jobs/job.js';
import type { JobPlanner, LaneSigner, JudgeStep, ReportTransaction } from '../jobs/ports.js';
import type { LaneLease, StepWrite } from '../jobs/transition.js';
import type { Journal } from '../store/journal.js';
import type { LaneMemory } from './lane-memory.js';
import type { LaneSettings } from './lane-settings.js';

/** Gaps are filled without an operator, where no job can be lost by it. */
export interface AutomaticFills {
  /** The name of the wallet. */
  wallet: string;
  mostPerHour: number;
}

/** What the code needs while it holds a lane's lease. */
export interface LaneWork extends LaneMemory {
  journal: Journal;
  chain: Chain;
  lease: Pick<LaneLease, 'lane' | 'token'>;
  signer: LaneSigner;
  planner: JobPlanner;
  judgeStep: JudgeStep;
  /** Null: nothing is reported to the book. */
  report: ReportTransaction | null;
  fills: AutomaticFills | null;
  settings: LaneSettings;
  onTrouble: (error: unknown) => void;
}

/** Another process has the lane's lease: write nothing more for it. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';

  constructor() {
    super("Another process holds the lane's lease now.");
  }
}

/** @throws LeaseLostError when the refusal says so; every other refusal means that the job has moved on meanwhile */
export function assertLease<T extends { outcome: string }>(result: T): T {
  if (result.outcome === 'refused' && 'reason' in result && result.reason === 'stale_token') throw new LeaseLostError();
  return result;
}

/** The fields that identify a write about the job's current step. */
export function writeFor({ lease }: Pick<LaneWork, 'lease'>, job: Pick<JobRecord, 'id' | 'stepIndex'>): StepWrite {
  return { jobId: job.id, stepIndex: job.stepIndex, token: lease.token };
}

/** Null while the current step is not planned. */
export function currentStep(job: JobRecord): StepRecord | null {
  return job.steps[job.stepIndex] ?? null;
}
