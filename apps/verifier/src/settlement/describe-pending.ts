import type { SettlementResult } from '@tollgate/common';
import type { Journal } from '@tollgate/transactions';

/**
 * What is told of a settlement that is not over: its newest transaction, or none where none is known to be sent. Servers
 * that others maintain ask again where one is named, and take anything else for a failure.
 */
export async function describePending(
  journal: Pick<Journal, 'readJob'>,
  jobId: string | null,
): Promise<SettlementResult> {
  const job = jobId === null ? null : await journal.readJob(jobId).catch(() => null);
  return { outcome: 'pending', txHash: job?.steps[0]?.attempts.at(-1)?.hash ?? null };
}
