import { READ_MINED_NONCE, type ReadMinedNonceReply } from '@tollgate/agent-jobs';
import { ProblemError } from '@tollgate/common';
import type { LaneId } from '@tollgate/transactions';

import type { AgentConnections } from '../agent-connections.js';
import { askWorker, PLANNING_UNAVAILABLE } from '../ask-worker.js';

const TIMEOUT_MS = 5_000;

/** How many transactions of the account are mined: all nonces below are used. */
export async function readMinedNonce(connections: AgentConnections, lane: LaneId): Promise<number> {
  const question = { pattern: READ_MINED_NONCE, data: lane, timeoutMs: TIMEOUT_MS };
  const reply = await askWorker<ReadMinedNonceReply>(connections, question);
  if (reply.outcome === 'unavailable') throw new ProblemError(PLANNING_UNAVAILABLE);
  return reply.minedNonce;
}
