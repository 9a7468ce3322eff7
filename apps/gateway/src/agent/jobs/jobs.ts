import { Inject, Injectable, Logger } from '@nestjs/common';
import { describeJob, JOB_NOT_FOUND } from '@tollgate/agent-jobs';
import {
  type ApiKey,
  limitParameter,
  onlyFields,
  ProblemError,
  RareErrors,
  refuseRequest,
  textParameter,
  wordsParameter,
} from '@tollgate/common';
import type { JobRecord, LaneId } from '@tollgate/journal';
import { JOB_OPERATIONS, JOB_STATES, type AgentJobPage, type AgentJobView } from '@tollgate/protocol';
import { z } from 'zod';

import { GatewayEnvironment } from '../../config/gateway.config.js';
import { isOperator } from '../access/caller.js';
import { AgentConnections } from '../shared/agent-connections.js';

export const listQuery = onlyFields({
  state: wordsParameter(JOB_STATES)
    .optional()
    .meta({ description: 'One or more, separated by commas.', example: 'FINAL,REVERTED' }),
  operation: z
    .enum(JOB_OPERATIONS, `must be one of ${JOB_OPERATIONS.join(', ')}`)
    .optional()
    .describe('One operation.'),
  wallet: textParameter.optional().describe("A wallet's name."),
  limit: limitParameter.describe('Maximum number of jobs on a page.'),
  cursor: textParameter.optional().describe('The cursor of the previous page.'),
});
export type JobListQuery = z.output<typeof listQuery>;

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
  async list(caller: ApiKey, { state, operation, wallet, limit, cursor }: JobListQuery): Promise<AgentJobPage> {
    try {
      const page = await this.connections.journal.listJobs({
        lanes: await this.#lanesOf(wallet),
        limit,
        ...(isOperator(caller) ? {} : { keyId: caller.id }),
        ...(state !== undefined && { states: state }),
        ...(operation !== undefined && { operation }),
        ...(cursor !== undefined && { cursor }),
      });
      const jobs = page.jobs.filter((job) => wallet === undefined || job.wallet === wallet);
      for (const error of page.unreadable) {
        if (this.#errors.takeReason('', error) !== null) this.#logger.error({ msg: 'a job is not listed', err: error });
      }
      const unreadable = page.unreadable.map(({ jobId }) => jobId);
      return {
        jobs: jobs.map((job) => this.describe(job)),
        ...(unreadable.length > 0 && { unreadable }),
        cursor: page.cursor,
      };
    } catch (error) {
      if (error instanceof TypeError && cursor !== undefined)
        throw refuseRequest(['cursor is not a cursor of this list.']);
      throw error;
    }
  }

  async #lanesOf(wallet: string | undefined): Promise<readonly LaneId[]> {
    if (wallet === undefined) return this.connections.journal.readLanes();
    const entry = await this.connections.within(this.connections.wallets.find(wallet));
    return entry ? [entry.lane] : [];
  }
}
