import type { SettlementResult } from '@tollgate/common';
import type { Journal } from '@tollgate/journal';

/**
 * The answer about an unfinished settlement: its newest transaction, or null when none is known to be sent. Third-party
 * x402 servers ask again when a transaction is named, and treat anything else as a failure.
 */
export async function describePending(
  journal: Pick<Journal, 'readJob'>,
  jobId: string | null,
): Promise<SettlementResult> {
  const job = jobId === null ? null : await journal.readJob(jobId).catch(() => null);
  return { outcome: 'pending', txHash: job?.steps[0]?.attempts.at(-1)?.hash ?? null };
}
