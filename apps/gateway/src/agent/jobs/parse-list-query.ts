import { AGENT_OPERATIONS, JOB_STATES, type AgentOperation, type JobState } from '@tollgate/protocol';

import { readLimit, readParameters, readWords } from '../read-query.js';
import { refuseRequest } from '../request-invalid.js';

export interface JobListQuery {
  readonly states: readonly JobState[] | undefined;
  readonly operation: AgentOperation | undefined;
  readonly wallet: string | undefined;
  readonly limit: number;
  readonly cursor: string | undefined;
}

/** @throws ProblemError listing every mistake in the query */
export function parseListQuery(query: unknown): JobListQuery {
  const reading = readParameters(query, ['state', 'operation', 'wallet', 'limit', 'cursor']);
  const { values, problems } = reading;
  const states = readWords(reading, 'state', JOB_STATES);
  const operation = AGENT_OPERATIONS.find((one) => one === values.get('operation'));
  if (values.has('operation') && operation === undefined) {
    problems.push(`operation must be one of ${AGENT_OPERATIONS.join(', ')}.`);
  }
  const limit = readLimit(reading);
  if (problems.length > 0) throw refuseRequest(problems);
  return { states, operation, wallet: values.get('wallet'), limit, cursor: values.get('cursor') };
}
