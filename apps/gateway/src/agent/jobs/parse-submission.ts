import { JobRequestError, parseJobRequest } from '@tollgate/agent-jobs';
import type { AgentJobRequest } from '@tollgate/protocol';

import { refuseRequest } from '../request-invalid.js';

/** @throws ProblemError listing every mistake in the body */
export function parseSubmission(body: unknown): AgentJobRequest {
  try {
    return parseJobRequest(body);
  } catch (error) {
    if (error instanceof JobRequestError) throw refuseRequest(error.problems);
    throw error;
  }
}
