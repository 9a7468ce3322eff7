import { AuthorizedTransfers } from '@tollgate/chain';
import type { JobRecord, StepReceipt } from '@tollgate/journal';

import type { ContractWallets } from './contract-wallets.js';
import { promiseOf } from './settlement-entry.js';
import { parseSettlementJob, SETTLE_OPERATION } from './settlement-job.js';

/** Records the outcome of a contract wallet's payment once it is mined, whichever process sent it. */
export async function concludeJob(
  wallets: Pick<ContractWallets, 'conclude'>,
  job: JobRecord,
  { status, logs, gasUsed }: StepReceipt,
): Promise<void> {
  // Some tokens do not revert on a used nonce, so their logs are checked; Permit2 does revert.
  const entries = job.operation === SETTLE_OPERATION ? parseSettlementJob(job) : [];
  const transfers = new AuthorizedTransfers(logs);
  const isSettled = status === 'success' && entries.every((entry) => transfers.include(promiseOf(entry)));
  await wallets.conclude(job.id, { gasUsed, isSettled });
}
