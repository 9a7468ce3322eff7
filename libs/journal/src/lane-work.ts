import type { EmptyWallet } from './empty-wallet.js';
import type { FlightWatch } from './flight-watch.js';
import type { JobRecord, StepRecord } from './job.js';
import type { Journal } from './journal.js';
import type { LaneSettings } from './lane-settings.js';
import type { LookPace } from './look-pace.js';
import type { NextNonce } from './next-nonce.js';
import type { PlanRetries } from './plan-retries.js';
import type { JobPlanner, LaneSigner, JudgeStep } from './ports.js';
import type { Chain } from './rpc/chain.js';
import type { LaneLease, StepWrite } from './transition.js';

/** What the code needs while it holds a lane's lease. */
export interface LaneWork {
  journal: Journal;
  chain: Chain;
  lease: Pick<LaneLease, 'lane' | 'token'>;
  signer: LaneSigner;
  planner: JobPlanner;
  judgeStep: JudgeStep;
  settings: LaneSettings;
  watch: FlightWatch;
  wallet: EmptyWallet;
  retries: PlanRetries;
  pace: LookPace;
  nextNonce: NextNonce;
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
