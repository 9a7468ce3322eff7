import { Inject } from '@nestjs/common';

import { OperatorJobs } from '../jobs/operator-jobs.js';
import { OperatorController, Serve, type Operator } from './operator-controller.js';

@OperatorController()
export class OperatorJobsController {
  constructor(@Inject(OperatorJobs) private readonly jobs: OperatorJobs) {}

  @Serve('GET /operator/jobs')
  list({ query }: Operator<'GET /operator/jobs'>) {
    return this.jobs.list(query);
  }

  @Serve('GET /operator/jobs/:id')
  read({ id }: Operator<'GET /operator/jobs/:id'>) {
    return this.jobs.read(id);
  }

  @Serve('POST /operator/jobs/:id/approve')
  approve({ caller, id, body }: Operator<'POST /operator/jobs/:id/approve'>) {
    return this.jobs.approve(caller, id, body.plan);
  }

  @Serve('POST /operator/jobs/:id/cancel')
  cancel({ id }: Operator<'POST /operator/jobs/:id/cancel'>) {
    return this.jobs.cancel(id);
  }

  @Serve('POST /operator/jobs/:id/resume')
  resume({ id }: Operator<'POST /operator/jobs/:id/resume'>) {
    return this.jobs.resume(id);
  }

  @Serve('POST /operator/jobs/:id/retry')
  retry({ id }: Operator<'POST /operator/jobs/:id/retry'>) {
    return this.jobs.retry(id);
  }
}
