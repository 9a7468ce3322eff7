import type { JobEvent } from '@tollgate/journal';
import type { AgentJobEvent, JobOperation } from '@tollgate/protocol';

/** A journal event in the form in which clients receive it, over every channel. */
export function toAgentJobEvent(event: JobEvent, walletName: string): AgentJobEvent {
  const { id, type, jobId, operation, atMs, txHash, error } = event;
  return {
    id,
    type,
    jobId,
    // Safe to cast: jobs are parsed before they are journaled.
    operation: operation as JobOperation,
    wallet: walletName,
    at: new Date(atMs).toISOString(),
    ...(txHash !== undefined && { txHash }),
    ...(error !== undefined && { error }),
  };
}
