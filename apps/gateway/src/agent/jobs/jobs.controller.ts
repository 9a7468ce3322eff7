import {
  Body,
  Controller,
  Get,
  HttpCode,
  Inject,
  Param,
  Post,
  Query,
  Req,
  Res,
  UseFilters,
  UsePipes,
  type PipeTransform,
} from '@nestjs/common';
import {
  agentJobPage,
  agentJobView,
  agentPlan,
  jobQuery,
  JobRequestError,
  parseJobRequest,
  type JobQuery,
} from '@tollgate/agent-jobs';
import { type ApiKey, CHECK_REQUEST, onlyFields, ProblemError, refuseRequest } from '@tollgate/http';
import {
  IDEMPOTENCY_KEY,
  IDEMPOTENT_REPLAYED,
  JOB_STATES,
  type AgentJobPage,
  type AgentJobRequest,
  type AgentJobView,
  type AgentPlanView,
} from '@tollgate/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';

import { answerWith, ref, REPLAYED } from '../../docs/describe/openapi-parts.js';
import { INVALID_IDEMPOTENCY_KEY, readIdempotencyKey } from '../../server/idempotency-key.js';
import { ForApiKeys } from '../access/api-key-access.js';
import { CallerKey } from '../access/caller.js';
import { AgentErrorFilter } from '../shared/agent-error.filter.js';
import { JobSubmission, type Submitted } from './job-submission.js';
import { Jobs } from './jobs.js';

const ID = 'The id of the job.';
const ACCEPTED = answerWith('The job is in the journal and will be executed.', agentJobView, {
  Location: { description: 'The path of the job.', schema: { type: 'string' } },
  ...REPLAYED('An earlier request created the job.'),
});
const NO_SUCH_JOB = 'This API key has no such job.';
const FORGOTTEN = 'The job of this Idempotency-Key is no longer stored: check the chain first.';
const KEY_HEADER = { name: IDEMPOTENCY_KEY, schema: { type: 'string', minLength: 1, maxLength: 255 } };

/** Nothing else is accepted, so that a misspelt dry run is not executed. */
const submissionQuery = onlyFields({
  dryRun: z.enum(['true', 'false'], 'must be true or false').optional().describe('Return only the plan.'),
});

/** Parses a job with the schemas of its operation. */
class JobRequestPipe implements PipeTransform<unknown, AgentJobRequest> {
  transform(body: unknown): AgentJobRequest {
    try {
      return parseJobRequest(body);
    } catch (error) {
      if (error instanceof JobRequestError) throw refuseRequest(error.problems);
      throw error;
    }
  }
}

@Controller('agent/jobs')
@UseFilters(AgentErrorFilter)
@UsePipes(CHECK_REQUEST)
export class JobsController {
  constructor(
    @Inject(Jobs) private readonly jobs: Jobs,
    @Inject(JobSubmission) private readonly submission: JobSubmission,
  ) {}

  @Post()
  @HttpCode(202)
  @ForApiKeys(['submit'], {
    summary: 'Submit a job, or plan it in a dry run',
    description: 'With `dryRun=true` a worker only plans the job; nothing is stored or sent.',
    headers: [
      {
        ...KEY_HEADER,
        description: 'Required, except for a dry run. A repeat with the same key and body returns the same job.',
      },
    ],
    body: { schema: ref('AgentJobRequest') },
    answers: { 200: answerWith('The plan of a dry run.', agentPlan), 202: ACCEPTED },
    problems: {
      400: 'The body, the query or the Idempotency-Key is not valid; `problems` lists every mistake.',
      409: 'The Idempotency-Key belongs to another request.',
      410: FORGOTTEN,
      413: 'The body is over 64 KiB.',
      415: 'The body is not JSON.',
      422: 'The wallet is unknown, or a dry run found that the job cannot be done (`failure`).',
    },
  })
  async submit(
    @CallerKey() caller: ApiKey,
    @Query({ schema: submissionQuery }) { dryRun }: { dryRun?: string },
    @Body(JobRequestPipe) job: AgentJobRequest,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AgentJobView | AgentPlanView> {
    if (dryRun === 'true') {
      void reply.code(200);
      return this.submission.plan(caller, job);
    }
    const idempotencyKey = requireIdempotencyKey(request);
    return answer(reply, await this.submission.submit(caller, { request: job, idempotencyKey }));
  }

  @Get()
  @ForApiKeys(['read', 'operator'], {
    summary: 'Jobs, newest first',
    description:
      'A key sees its own jobs, an operator all. A page may be short or empty and still have a cursor: continue with it. ' +
      'A job whose record cannot be read is named in `unreadable` instead.',
    answers: { 200: answerWith(`A page. States are ${JOB_STATES.join(', ')}.`, agentJobPage) },
    problems: { 400: 'A parameter is unknown or not valid.' },
  })
  list(@CallerKey() caller: ApiKey, @Query({ schema: jobQuery }) query: JobQuery): Promise<AgentJobPage> {
    return this.jobs.list(caller, query);
  }

  @Get(':id')
  @ForApiKeys(['read', 'operator'], {
    summary: 'A job, its steps and its transactions',
    id: ID,
    answers: { 200: answerWith('The current state of the job.', agentJobView) },
    problems: { 404: NO_SUCH_JOB },
  })
  async read(@CallerKey() caller: ApiKey, @Param('id') id: string): Promise<AgentJobView> {
    return this.jobs.describe(await this.jobs.find(caller, id));
  }

  @Post(':id/retry')
  @HttpCode(202)
  @ForApiKeys(['submit'], {
    summary: 'Submit a failed job again, as a new job that refers to it',
    id: ID,
    headers: [{ ...KEY_HEADER, required: true, description: 'The key of the new job.' }],
    answers: { 202: ACCEPTED },
    problems: {
      400: 'The Idempotency-Key is missing or not valid.',
      404: NO_SUCH_JOB,
      409: 'The job has not failed, or the Idempotency-Key belongs to another request.',
      410: FORGOTTEN,
      422: 'The wallet no longer exists.',
    },
  })
  async retry(
    @CallerKey() caller: ApiKey,
    @Param('id') id: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AgentJobView> {
    return answer(reply, await this.submission.retry(caller, id, requireIdempotencyKey(request)));
  }
}

function requireIdempotencyKey(request: FastifyRequest): string {
  const key = readIdempotencyKey(request);
  if (key === undefined || key === null) throw new ProblemError(INVALID_IDEMPOTENCY_KEY);
  return key;
}

function answer(reply: FastifyReply, { job, isReplay }: Submitted): AgentJobView {
  void reply.header('Location', `/agent/jobs/${job.id}`);
  if (isReplay) void reply.header(IDEMPOTENT_REPLAYED, 'true');
  return job;
}
