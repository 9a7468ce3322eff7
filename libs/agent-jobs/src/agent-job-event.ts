import type { AgentJobEvent, AgentOperation } from '@tollgate/protocol';
import type { JobEvent } from '@tollgate/transactions';

/** A journal's event as clients get it, whichever way it goes out. */
export function toAgentJobEvent(event: JobEvent, walletName: string): AgentJobEvent {
  const { id, type, jobId, operation, atMs, txHash, error } = event;
  return {
    id,
    type,
    jobId,
    // Jobs are parsed before they are journaled.
    operation: operation as AgentOperation,
    wallet: walletName,
    at: new Date(atMs).toISOString(),
    ...(txHash !== undefined && { txHash }),
    ...(error !== undefined && { error }),
  };
}
