import { Inject, Injectable } from '@nestjs/common';
import { findTokenProblems } from '@tollgate/agent-jobs';
import { type ApiKey, PLAN_JOB, ProblemError, refuseRequest } from '@tollgate/common';
import type { AgentJobRequest, AgentPlanView } from '@tollgate/protocol';

import { GatewayEnvironment } from '../../config/gateway.config.js';
import { AgentConnections } from '../shared/agent-connections.js';
import { askWorker, PLANNING_UNAVAILABLE } from '../shared/ask-worker.js';
import { findWallet } from './job-submission.js';

/** Has a worker of the wallet plan a job. Nothing is stored or sent for it. */
@Injectable()
export class JobPreview {
  constructor(
    @Inject(AgentConnections) private readonly connections: AgentConnections,
    @Inject(GatewayEnvironment) private readonly environment: GatewayEnvironment,
  ) {}

  /** @throws ProblemError if the job cannot be done, or no worker can plan it now */
  async plan(caller: ApiKey, request: AgentJobRequest): Promise<AgentPlanView> {
    await findWallet(this.connections, caller, request.wallet);
    const tokens = await this.connections.within(this.connections.wallets.findTokens(request.wallet));
    const problems = tokens ? findTokenProblems(request, tokens) : [];
    if (problems.length > 0) throw refuseRequest(problems);
    const timeoutMs = this.environment.agentJobs.agentPlanTimeoutMs;
    const question = { pattern: PLAN_JOB, data: request, timeoutMs, wallet: request.wallet } as const;
    const reply = await askWorker(this.connections, question);
    switch (reply.outcome) {
      case 'planned':
        return reply.plan;
      case 'refused': {
        const { failure } = reply;
        throw new ProblemError({ status: 422, code: 'plan_refused', detail: failure.message, members: { failure } });
      }
      case 'unavailable':
        throw new ProblemError(PLANNING_UNAVAILABLE);
    }
  }
}
