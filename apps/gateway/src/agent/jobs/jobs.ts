import { Inject, Injectable, Logger } from '@nestjs/common';
import { describeJob, JOB_NOT_FOUND, searchJobs, type JobQuery } from '@tollgate/agent-jobs';
import { RareErrors } from '@tollgate/common';
import { ProblemError, type ApiKey } from '@tollgate/http';
import type { JobRecord } from '@tollgate/journal';
import type { AgentJobPage, AgentJobView } from '@tollgate/protocol';

import { GatewayEnvironment } from '../../config/gateway.config.js';
import { isOperator } from '../access/caller.js';
import { AgentConnections } from '../shared/agent-connections.js';

/** Reads jobs: an API key its own, an operator all. */
@Injectable()
export class Jobs {
  readonly #logger = new Logger('AgentJobs');
  readonly #errors = new RareErrors();

  constructor(
    @Inject(AgentConnections) private readonly connections: AgentConnections,
    @Inject(GatewayEnvironment) private readonly environment: GatewayEnvironment,
  ) {}

  /** @throws ProblemError if there is no such job, or the caller may not see it */
  async find(caller: ApiKey, jobId: string): Promise<JobRecord> {
    const job = await this.connections.journal.readJob(jobId);
    if (job === null || (job.keyId !== caller.id && !isOperator(caller))) throw new ProblemError(JOB_NOT_FOUND);
    return job;
  }

  describe(job: JobRecord): AgentJobView {
    return describeJob(job, { explorerUrl: this.environment.explorer.explorerUrl });
  }

  /** @throws ProblemError if the cursor does not belong to this list */
  async list(caller: ApiKey, query: JobQuery): Promise<AgentJobPage> {
    const { journal, wallets } = this.connections;
    const directory = { find: (name: string) => this.connections.within(wallets.find(name)) };
    const keyId = isOperator(caller) ? undefined : caller.id;
    const { jobs, unreadable, cursor } = await searchJobs({ journal, directory }, query, keyId);
    for (const error of unreadable) {
      if (this.#errors.takeReason('', error) !== null) this.#logger.error({ msg: 'a job is not listed', err: error });
    }
    return {
      jobs: jobs.map((job) => this.describe(job)),
      ...(unreadable.length > 0 && { unreadable: unreadable.map(({ jobId }) => jobId) }),
      cursor,
    };
  }
}
