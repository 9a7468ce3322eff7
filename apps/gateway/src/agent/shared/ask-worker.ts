import { ProblemError, type Problem } from '@tollgate/http';
import { MalformedMessageError } from '@tollgate/schemas';
import {
  NoReplyError,
  parseAnswer,
  QueueFullError,
  RequestFailedError,
  type AnswerOf,
  type AskedOf,
  type PatternOf,
  type PLAN_QUEUE,
} from '@tollgate/transport';

import type { AgentConnections } from './agent-connections.js';

export const PLANNING_UNAVAILABLE: Problem = {
  status: 503,
  code: 'planning_unavailable',
  detail: 'No worker can read the chain now. Send the same request again later.',
  retryAfterMs: 5_000,
};

type PlanPattern = PatternOf<typeof PLAN_QUEUE>;

export interface WorkerQuestion<Pattern extends PlanPattern> {
  readonly pattern: Pattern;
  readonly data: AskedOf<Pattern>;
  readonly timeoutMs: number;
  /** Sends the question only to workers that sign for this wallet. */
  readonly wallet?: string;
}

/**
 * Asks a worker a question that needs the chain. A question changes nothing, so one that is lost is repeated.
 * @throws ProblemError if no worker responds
 */
export async function askWorker<Pattern extends PlanPattern>(
  connections: AgentConnections,
  { pattern, data, timeoutMs, wallet }: WorkerQuestion<Pattern>,
): Promise<AnswerOf<Pattern>> {
  const retryAfterMs = Math.ceil(timeoutMs / 2);
  try {
    const answer = await connections.workers.ask(pattern, data, {
      timeoutMs,
      retryAfterMs,
      isTakenBack: true,
      ...(wallet !== undefined && { routingKey: wallet }),
    });
    return parseAnswer(pattern, answer);
  } catch (error) {
    const isAway = [NoReplyError, QueueFullError, RequestFailedError, MalformedMessageError].some(
      (kind) => error instanceof kind,
    );
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
