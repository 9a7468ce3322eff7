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
}

/**
 * Asks a worker what only the chain knows; nothing is changed by it, so a question that got lost is asked again.
 * @throws ProblemError where no worker answers
 */
export async function askWorker<Reply>(
  connections: AgentConnections,
  { pattern, data, timeoutMs }: Question,
): Promise<Reply> {
  try {
    return await connections.workers.ask<Reply>(pattern, data, { timeoutMs, retryAfterMs: Math.ceil(timeoutMs / 2) });
  } catch (error) {
    const isAway = [NoReplyError, QueueFullError, RequestFailedError].some((kind) => error instanceof kind);
    if (!isAway) throw error;
    connections.report(error);
    throw new ProblemError(PLANNING_UNAVAILABLE, { cause: error });
  }
}
