import { Body, Controller, HttpCode, Inject, Param, Post, Res, UseFilters } from '@nestjs/common';
import type { ApiKey } from '@tollgate/common';
import type { AgentJobView } from '@tollgate/protocol';
import type { FastifyReply } from 'fastify';

import { CallerKey } from '../access/caller.js';
import { ForApiKeys } from '../access/for-api-keys.js';
import { AgentErrorFilter } from '../agent-error.filter.js';
import { JobDecisions } from './job-decisions.js';
import { parseApproval } from './parse-approval.js';

@Controller('agent/jobs/:id')
@UseFilters(AgentErrorFilter)
export class JobDecisionsController {
  constructor(@Inject(JobDecisions) private readonly decisions: JobDecisions) {}

  @Post('cancel')
  @HttpCode(200)
  @ForApiKeys('submit', 'operator')
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
  @ForApiKeys('operator')
  approve(@CallerKey() caller: ApiKey, @Param('id') id: string, @Body() body: unknown): Promise<AgentJobView> {
    return this.decisions.approve(caller, id, parseApproval(body));
  }

  @Post('reject')
  @HttpCode(200)
  @ForApiKeys('operator')
  reject(@CallerKey() caller: ApiKey, @Param('id') id: string): Promise<AgentJobView> {
    return this.decisions.reject(caller, id);
  }

  @Post('resume')
  @HttpCode(200)
  @ForApiKeys('operator')
  resume(@CallerKey() caller: ApiKey, @Param('id') id: string): Promise<AgentJobView> {
    return this.decisions.resume(caller, id);
  }

  @Post('abandon')
  @HttpCode(200)
  @ForApiKeys('operator')
  abandon(@CallerKey() caller: ApiKey, @Param('id') id: string): Promise<AgentJobView> {
    return this.decisions.abandon(caller, id);
  }
}
