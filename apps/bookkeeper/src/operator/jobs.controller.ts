import { Body, Get, HttpCode, Inject, Param, Post, Query } from '@nestjs/common';
import { jobQuery, type JobQuery } from '@tollgate/agent-jobs';
import { onlyFields, type ApiKey } from '@tollgate/http';
import { z } from 'zod';

import { OperatorJobs, type OperatorJob, type OperatorJobPage } from '../jobs/operator-jobs.js';
import { ForOperators, OperatorController, OperatorKey } from './operator-controller.js';

const DIGEST = 'must be the planDigest of the job: 64 hexadecimal digits';

const approval = onlyFields({
  plan: z
    .string(DIGEST)
    .regex(/^[0-9a-f]{64}$/, DIGEST)
    .describe('The `planDigest` of the plan that was reviewed.'),
});

@OperatorController('jobs')
export class OperatorJobsController {
  constructor(@Inject(OperatorJobs) private readonly jobs: OperatorJobs) {}

  @Get()
  @ForOperators('operator:read', 'Jobs of all wallets that match all that is given, newest first')
  list(@Query({ schema: jobQuery }) query: JobQuery): Promise<OperatorJobPage> {
    return this.jobs.list(query);
  }

  @Get(':id')
  @ForOperators('operator:read', 'A job with its plan, call by call, and the digest that an approval names')
  read(@Param('id') id: string): Promise<OperatorJob> {
    return this.jobs.read(id);
  }

  @Post(':id/approve')
  @HttpCode(200)
  @ForOperators(
    'operator:approve',
    'Approves exactly the plan with this digest; not of a job of its own, nor of one whose refund is paid, has another attempt, or was given up',
    'job.approve',
  )
  approve(
    @OperatorKey() caller: ApiKey,
    @Param('id') id: string,
    @Body({ schema: approval }) { plan }: z.output<typeof approval>,
  ): Promise<OperatorJob> {
    return this.jobs.approve(caller, id, plan);
  }

  @Post(':id/cancel')
  @HttpCode(200)
  @ForOperators('operator:approve', 'Cancels a job; where a transaction is in flight, the chain decides', 'job.cancel')
  cancel(@Param('id') id: string): Promise<OperatorJob> {
    return this.jobs.cancel(id);
  }

  @Post(':id/resume')
  @HttpCode(200)
  @ForOperators(
    'operator:approve',
    'Lets a job that needs an operator go on; not one whose refund is paid, has another attempt, or was given up',
    'job.resume',
  )
  resume(@Param('id') id: string): Promise<OperatorJob> {
    return this.jobs.resume(id);
  }

  @Post(':id/retry')
  @HttpCode(200)
  @ForOperators('operator:approve', 'Repeats the request of a failed job as a new job, which it returns', 'job.retry')
  retry(@Param('id') id: string): Promise<OperatorJob> {
    return this.jobs.retry(id);
  }
}
