import { Controller, Inject } from '@nestjs/common';
import { Payload, RpcException } from '@nestjs/microservices';
import { JobRequestError, parseJobRequest } from '@tollgate/agent-jobs';
import { Answers, PLAN_JOB, type PlanJobReply } from '@tollgate/common';
import type { AgentJobRequest } from '@tollgate/protocol';

import { Plannings } from './plannings.js';

/** Dry runs for gateways: the same planning as for a job, without writing or sending anything. */
@Controller()
export class PlanJobController {
  constructor(@Inject(Plannings) private readonly plannings: Plannings) {}

  @Answers(PLAN_JOB)
  async plan(@Payload() message: unknown): Promise<PlanJobReply> {
    const { wallet, ...request } = this.parse(message);
    const planning = this.plannings.find(wallet);
    if (!planning) return { outcome: 'unavailable', reason: `this worker has no wallet ${wallet}` };
    return planning.dryRun(request);
  }

  private parse(message: unknown): AgentJobRequest {
    try {
      return parseJobRequest(message);
    } catch (error) {
      if (error instanceof JobRequestError) throw new RpcException(error.message);
      throw error;
    }
  }
}
