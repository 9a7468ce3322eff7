import { NoReplyError, ProblemError, QueueFullError, RequestFailedError, type Problem } from '@tollgate/common';

import type { AgentConnections } from './agent-connections.js';

export const PLANNING_UNAVAILABLE: Problem = {
  status: 503,
  code: 'planning_unavailable',
  detail: 'No worker can look at the chain now.',
  retryAfterMs: 5_000,
};

export interface Question {
  readonly pattern: string;
  readonly data: unknown;
  readonly timeoutMs: number;
  /** Only workers that sign for this wallet are asked. */
  readonly wallet?: string;
}

/**
 * Asks a worker what only the chain knows; nothing is changed by it, so a question that got lost is asked again.
 * @throws ProblemError where no worker answers
 */
export async function askWorker<Reply>(
  connections: AgentConnections,
  { pattern, data, timeoutMs, wallet }: Question,
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
