import { ProblemError, READ_MINED_NONCE, type ReadMinedNonceReply } from '@tollgate/common';
import type { JobRecord } from '@tollgate/journal';

import type { AgentConnections } from '../shared/agent-connections.js';
import { askWorker, PLANNING_UNAVAILABLE } from '../shared/ask-worker.js';

const TIMEOUT_MS = 5_000;

type MinedNonce = Omit<Extract<ReadMinedNonceReply, { outcome: 'read' }>, 'outcome'>;

/**
 * Reads the number of mined transactions of the job's account: all lower nonces are used. `isAttemptMined`: the job's
 * own transaction is mined, which the journal has not recorded yet.
 */
export async function readMinedNonce(connections: AgentConnections, job: JobRecord): Promise<MinedNonce> {
  const step = job.steps[job.stepIndex];
  const attempts = step && step.mined === null ? step.attempts.map(({ hash }) => hash) : [];
  const question = { pattern: READ_MINED_NONCE, data: { ...job.lane, attempts }, timeoutMs: TIMEOUT_MS } as const;
  const reply = await askWorker(connections, question);
  if (reply.outcome === 'unavailable') throw new ProblemError(PLANNING_UNAVAILABLE);
  return reply;
}
