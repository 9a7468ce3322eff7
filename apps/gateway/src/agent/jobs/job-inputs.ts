import type { PipeTransform } from '@nestjs/common';
import { JobRequestError, parseJobRequest } from '@tollgate/agent-jobs';
import { AGENT_OPERATIONS, JOB_STATES, type AgentJobRequest } from '@tollgate/protocol';
import { z } from 'zod';

import { refuseRequest } from '../shared/request-invalid.js';
import { limitParameter, onlyFields, textParameter, wordsParameter } from '../shared/request-schemas.js';

/** Nothing else is accepted, so that a misspelt dry run is not executed. */
export const submissionQuery = onlyFields({
  dryRun: z.enum(['true', 'false'], 'must be true or false').optional().describe('Return only the plan.'),
});

export const listQuery = onlyFields({
  state: wordsParameter(JOB_STATES)
    .optional()
    .meta({ description: 'One or more, separated by commas.', example: 'FINAL,REVERTED' }),
  operation: z
    .enum(AGENT_OPERATIONS, `must be one of ${AGENT_OPERATIONS.join(', ')}`)
    .optional()
    .describe('One operation.'),
  wallet: textParameter.optional().describe("A wallet's name."),
  limit: limitParameter.describe('Maximum number of jobs on a page.'),
  cursor: textParameter.optional().describe('The cursor of the previous page.'),
});
export type JobListQuery = z.output<typeof listQuery>;

const FLOORS_HASH = 'must be the hash of the plan to approve';

export const approvalBody = onlyFields({
  floorsHash: z
    .string(FLOORS_HASH)
    .regex(/^[\w-]{1,128}$/, FLOORS_HASH)
    .describe('The hash of the plan that was reviewed.'),
});

/** Parses a job with the schemas of its operation. */
export class JobRequestPipe implements PipeTransform<unknown, AgentJobRequest> {
  transform(body: unknown): AgentJobRequest {
    try {
      return parseJobRequest(body);
    } catch (error) {
      if (error instanceof JobRequestError) throw refuseRequest(error.problems);
      throw error;
    }
  }
}
