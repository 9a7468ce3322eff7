import type { WalletDirectory } from '@tollgate/agent-jobs';
import type { JobRecord, Journal } from '@tollgate/journal';
import type { AgentOperation, JobState } from '@tollgate/protocol';

export interface JobFilter {
  states: readonly JobState[] | undefined;
  operation: AgentOperation | undefined;
  wallet: string | undefined;
  limit: number;
}

/** The newest jobs that match the filter, of one wallet, or of all wallets that were ever adopted. */
export async function listNewestJobs(
  journal: Journal,
  directory: WalletDirectory,
  { states, operation, wallet, limit }: JobFilter,
): Promise<JobRecord[]> {
  const entry = wallet === undefined ? null : await directory.find(wallet);
  // A name that was removed from its account is still in that account's jobs.
  const lanes = entry ? [entry.lane] : await journal.readLanes();
  const found: JobRecord[] = [];
  for (let cursor: string | null | undefined; cursor !== null && found.length < limit;) {
    const page = await journal.listJobs({
      lanes,
      limit: 200,
      ...(states && { states }),
      ...(operation && { operation }),
      ...(cursor !== undefined && { cursor }),
    });
    found.push(...page.jobs.filter((job) => wallet === undefined || job.wallet === wallet));
    cursor = page.cursor;
  }
  return found.slice(0, limit);
}
