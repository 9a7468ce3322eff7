import { Body, Controller, Get, HttpCode, Inject, Param, Post, Query, Req, Res, UseFilters } from '@nestjs/common';
import { ProblemError, type ApiKey } from '@tollgate/common';
import { IDEMPOTENT_REPLAYED, type AgentJobPage, type AgentJobView, type AgentPlanView } from '@tollgate/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';

import { INVALID_IDEMPOTENCY_KEY, readIdempotencyKey } from '../../server/idempotency-key.js';
import { CallerKey } from '../access/caller.js';
import { ForApiKeys } from '../access/for-api-keys.js';
import { AgentErrorFilter } from '../agent-error.filter.js';
import { JobPreview } from './job-preview.js';
import { JobSubmission, type Submitted } from './job-submission.js';
import { Jobs } from './jobs.js';
import { parseDryRun } from './parse-dry-run.js';
import { parseListQuery } from './parse-list-query.js';
import { parseSubmission } from './parse-submission.js';

@Controller('agent/jobs')
@UseFilters(AgentErrorFilter)
export class JobsController {
  constructor(
    @Inject(Jobs) private readonly jobs: Jobs,
    @Inject(JobSubmission) private readonly submission: JobSubmission,
    @Inject(JobPreview) private readonly planning: JobPreview,
  ) {}

  @Post()
  @HttpCode(202)
  @ForApiKeys('submit')
  async submit(
    @CallerKey() caller: ApiKey,
    @Query() query: unknown,
    @Body() body: unknown,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AgentJobView | AgentPlanView> {
    if (parseDryRun(query)) {
      void reply.code(200);
      return this.planning.plan(caller, parseSubmission(body));
    }
    const idempotencyKey = requireIdempotencyKey(request);
    return answer(reply, await this.submission.submit(caller, { request: parseSubmission(body), idempotencyKey }));
  }

  @Get()
  @ForApiKeys('read', 'operator')
  list(@CallerKey() caller: ApiKey, @Query() query: unknown): Promise<AgentJobPage> {
    return this.jobs.list(caller, parseListQuery(query));
  }

  @Get(':id')
  @ForApiKeys('read', 'operator')
  async read(@CallerKey() caller: ApiKey, @Param('id') id: string): Promise<AgentJobView> {
    return this.jobs.describe(await this.jobs.find(caller, id));
  }

  @Post(':id/retry')
  @HttpCode(202)
  @ForApiKeys('submit')
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
