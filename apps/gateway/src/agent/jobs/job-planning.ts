import { Inject, Injectable } from '@nestjs/common';
import { PLAN_JOB, type PlanJobReply, type PlanJobRequest } from '@tollgate/agent-jobs';
import {
  NoReplyError,
  ProblemError,
  QueueFullError,
  RequestFailedError,
  type ApiKey,
  type Problem,
} from '@tollgate/common';
import type { AgentJobRequest, AgentPlanView } from '@tollgate/protocol';

import { GatewayEnvironment } from '../../gateway.config.js';
import { AgentConnections } from '../agent-connections.js';
import { findWallet } from './find-wallet.js';

const UNAVAILABLE: Problem = {
  status: 503,
  code: 'planning_unavailable',
  detail: 'No worker can plan this now.',
  retryAfterMs: 5_000,
};

/** Asks a worker what a job would do; nothing is written or sent for it. */
@Injectable()
export class JobPlanning {
  constructor(
    @Inject(AgentConnections) private readonly connections: AgentConnections,
    @Inject(GatewayEnvironment) private readonly environment: GatewayEnvironment,
  ) {}

  /** @throws ProblemError where the job cannot be done, or nobody can say */
  async plan(caller: ApiKey, request: AgentJobRequest, requestId: string): Promise<AgentPlanView> {
    await findWallet(this.connections, caller, request.wallet);
    const reply = await this.#ask(request, requestId);
    switch (reply.outcome) {
      case 'planned':
        return reply.plan;
      case 'refused': {
        const { failure } = reply;
        throw new ProblemError({ status: 422, code: 'plan_refused', detail: failure.message, members: { failure } });
      }
      case 'unavailable':
        throw new ProblemError(UNAVAILABLE);
    }
  }

  async #ask(request: PlanJobRequest, requestId: string): Promise<PlanJobReply> {
    const timeoutMs = this.environment.agentJobs.agentPlanTimeoutMs;
    try {
      return await this.connections.planner.ask<PlanJobReply, PlanJobRequest>(PLAN_JOB, request, {
        timeoutMs,
        // A worker that died with the question is no reason to refuse: planning changes nothing.
        retryAfterMs: Math.ceil(timeoutMs / 2),
        requestId,
      });
    } catch (error) {
      const isAway = [NoReplyError, QueueFullError, RequestFailedError].some((kind) => error instanceof kind);
      if (!isAway) throw error;
      this.connections.report(error);
      throw new ProblemError(UNAVAILABLE, { cause: error });
    }
  }
}
