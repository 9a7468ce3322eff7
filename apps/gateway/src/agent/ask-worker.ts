import { NoReplyError, ProblemError, QueueFullError, RequestFailedError, type Problem } from '@tollgate/common';

import type { AgentConnections } from './agent-connections.js';

export const PLANNING_UNAVAILABLE: Problem = {
  status: 503,
  code: 'planning_unavailable',
  detail: 'No worker can read the chain now. Send the same request again later.',
  retryAfterMs: 5_000,
};

export interface WorkerQuestion {
  readonly pattern: string;
  readonly data: unknown;
  readonly timeoutMs: number;
  /** Sends the question only to workers that sign for this wallet. */
  readonly wallet?: string;
}

/**
 * Asks a worker a question that needs the chain. A question changes nothing, so one that is lost is repeated.
 * @throws ProblemError if no worker responds
 */
export async function askWorker<Reply>(
  connections: AgentConnections,
  { pattern, data, timeoutMs, wallet }: WorkerQuestion,
): Promise<Reply> {
  const retryAfterMs = Math.ceil(timeoutMs / 2);
  try {
    return await connections.workers.ask<Reply>(pattern, data, {
      ...{ timeoutMs, retryAfterMs, isTakenBack: true },
      ...(wallet !== undefined && { routingKey: wallet }),
    });
  } catch (error) {
    const isAway = [NoReplyError, QueueFullError, RequestFailedError].some((kind) => error instanceof kind);
    if (!isAway) throw error;
    connections.report(error);
    const isUntaken = error instanceof NoReplyError && error.isUntaken;
    throw new ProblemError(isUntaken && wallet !== undefined ? noWorkerOf(wallet) : PLANNING_UNAVAILABLE, {
      cause: error,
    });
  }
}

function noWorkerOf(wallet: string): Problem {
  return {
    ...PLANNING_UNAVAILABLE,
    detail: `No worker with the wallet "${wallet}" answers now. Send the same request after Retry-After.`,
  };
}
