import { AuthorizedTransfers } from '@tollgate/chain';
import type { JobRecord, StepReceipt, StepRecord } from '@tollgate/journal';

import { countPayments, parseSettlementJob } from '../payments/settlement-job.js';
import type { ContractWallets } from '../state/contract-wallets.js';
import type { JobWatch } from '../state/job-watch.js';
import { isOfContractWallet } from './settlement-planner.js';

export interface MinedParts {
  jobs: Pick<JobWatch, 'noteMined'>;
  wallets: Pick<ContractWallets, 'conclude'>;
  metrics: { mined(payments: number, seconds: number): void };
  /** Returns the time of Redis's clock. */
  nowMs: () => number;
}

/** Call when a job of a relayer is mined, whichever process sent it. */
export async function noteMined(
  { jobs, wallets, metrics, nowMs }: MinedParts,
  job: JobRecord,
  step: StepRecord,
  receipt: StepReceipt,
): Promise<void> {
  jobs.noteMined(job.id, receipt);
  metrics.mined(countPayments(job), (nowMs() - job.submittedAtMs) / 1000);
  if (isOfContractWallet(step)) await wallets.conclude(job.id, readOutcome(job, receipt));
}

function readOutcome(job: JobRecord, { status, logs, gasUsed }: StepReceipt): { gasUsed: bigint; isSettled: boolean } {
  const transfers = new AuthorizedTransfers(logs);
  // Some tokens do not revert on a used nonce, so their logs are checked; Permit2 does revert.
  const areMoved = parseSettlementJob(job).every((entry) => entry.kind === 'permit2' || transfers.include(entry));
  return { gasUsed, isSettled: status === 'success' && areMoved };
}
