import { Body, Controller, HttpCode, Inject, Param, Post, Res, UseFilters, UsePipes } from '@nestjs/common';
import { type ApiKey, CHECK_REQUEST, onlyFields } from '@tollgate/common';
import type { AgentJobView } from '@tollgate/protocol';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';

import { answerWith, ref } from '../../docs/describe/openapi-parts.js';
import { ForApiKeys } from '../access/api-key-access.js';
import { CallerKey } from '../access/caller.js';
import { AgentErrorFilter } from '../shared/agent-error.filter.js';
import { JobDecisions } from './job-decisions.js';

const ID = 'The id of the job.';
const VIEW = ref('AgentJobView');

const FLOORS_HASH = 'must be the hash of the plan to approve';

const approvalBody = onlyFields({
  floorsHash: z
    .string(FLOORS_HASH)
    .regex(/^[\w-]{1,128}$/, FLOORS_HASH)
    .describe('The hash of the plan that was reviewed.'),
});

/** A decision of an operator; the status 409 is a job in another state. */
const ForOperators = (summary: string, conflict: string, problems: Record<number, string> = {}): MethodDecorator =>
  ForApiKeys(['operator'], {
    ...{ summary, id: ID },
    answers: { 200: answerWith('The current state of the job.', VIEW) },
    problems: { ...problems, 404: 'No such job.', 409: conflict },
  });

@Controller('agent/jobs/:id')
@UseFilters(AgentErrorFilter)
@UsePipes(CHECK_REQUEST)
export class JobDecisionsController {
  constructor(@Inject(JobDecisions) private readonly decisions: JobDecisions) {}

  @Post('cancel')
  @HttpCode(200)
  @ForApiKeys(['submit', 'operator'], {
    summary: 'Cancel a job',
    id: ID,
    answers: {
      200: answerWith('The job is cancelled.', VIEW),
      202: answerWith('A transaction is in flight: whichever is mined decides.', VIEW),
    },
    problems: { 404: 'This API key has no such job.', 409: 'It is too late to cancel.' },
  })
  async cancel(
    @CallerKey() caller: ApiKey,
    @Param('id') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AgentJobView> {
    const { job, isUnderWay } = await this.decisions.cancel(caller, id);
    if (isUnderWay) void reply.code(202);
    return job;
  }

  @Post('approve')
  @HttpCode(200)
  @ForOperators('Approve the reviewed plan', 'The plan has changed since.', { 400: 'The body is not valid.' })
  approve(
    @CallerKey() caller: ApiKey,
    @Param('id') id: string,
    @Body({ schema: approvalBody }) { floorsHash }: { floorsHash: string },
  ): Promise<AgentJobView> {
    return this.decisions.approve(caller, id, floorsHash);
  }

  @Post('reject')
  @HttpCode(200)
  @ForOperators('Reject a job that waits for approval', 'The job does not wait for approval.')
  reject(@CallerKey() caller: ApiKey, @Param('id') id: string): Promise<AgentJobView> {
    return this.decisions.reject(caller, id);
  }

  @Post('resume')
  @HttpCode(200)
  @ForOperators('Resume a job that needs an operator', 'The job has ended.')
  resume(@CallerKey() caller: ApiKey, @Param('id') id: string): Promise<AgentJobView> {
    return this.decisions.resume(caller, id);
  }

  @Post('abandon')
  @HttpCode(200)
  @ForOperators(
    'Abandon a job that needs an operator',
    'The nonce of the job is unused on the chain, or used by its own transaction, or the job needs no operator.',
  )
  abandon(@CallerKey() caller: ApiKey, @Param('id') id: string): Promise<AgentJobView> {
    return this.decisions.abandon(caller, id);
  }
}
