import { AGENT_OPERATIONS, JOB_STATES, type AgentOperation, type JobState } from '@tollgate/protocol';

import { readQuery, readWords } from '../read-query.js';
import { refuseRequest } from '../request-invalid.js';

export interface JobListQuery {
  readonly states: readonly JobState[] | undefined;
  readonly operation: AgentOperation | undefined;
  readonly wallet: string | undefined;
  readonly limit: number;
  readonly cursor: string | undefined;
}

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;

/** @throws ProblemError with everything that is wrong with the query */
export function parseListQuery(query: unknown): JobListQuery {
  const reading = readQuery(query, ['state', 'operation', 'wallet', 'limit', 'cursor']);
  const { values, problems } = reading;
  const states = readWords(reading, 'state', JOB_STATES);
  const operation = AGENT_OPERATIONS.find((one) => one === values.get('operation'));
  if (values.has('operation') && operation === undefined) {
    problems.push(`operation must be one of ${AGENT_OPERATIONS.join(', ')}.`);
  }
  const limit = values.get('limit') ?? String(DEFAULT_LIMIT);
  if (!/^[1-9]\d{0,2}$/.test(limit) || Number(limit) > MAX_LIMIT) problems.push(`limit must be 1 to ${MAX_LIMIT}.`);
  if (problems.length > 0) throw refuseRequest(problems);
  return { states, operation, wallet: values.get('wallet'), limit: Number(limit), cursor: values.get('cursor') };
}
