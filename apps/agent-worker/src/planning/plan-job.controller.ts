import { Controller, Inject } from '@nestjs/common';
import { Payload, RpcException } from '@nestjs/microservices';
import { JobRequestError, parseJobRequest } from '@tollgate/agent-jobs';
import type { AgentJobRequest } from '@tollgate/protocol';
import { Answers, PLAN_JOB, type PlanJobReply, type PlanJobRequest } from '@tollgate/transport';

import { Turns } from '../payments/turns.js';
import { Plannings } from './plannings.js';

/** The most dry runs of one wallet at once, so that those of others, and other questions to this worker, are answered meanwhile. */
const DRY_RUN_LIMITS = { total: Infinity, perOrigin: 16 };
/** Longer than most dry runs take, so that a burst of them is planned. */
const LONGEST_QUEUE_MS = 2_000;
const BUSY: PlanJobReply = { outcome: 'unavailable', reason: 'the wallet has reached its limit of dry runs' };

/** Dry runs for gateways: the same planning as for a job, without writing or sending anything. */
@Controller()
export class PlanJobController {
  readonly #turns = new Turns(DRY_RUN_LIMITS);

  constructor(@Inject(Plannings) private readonly plannings: Plannings) {}

  @Answers(PLAN_JOB)
  async plan(@Payload() asked: PlanJobRequest): Promise<PlanJobReply> {
    const { wallet, ...request } = this.#parse(asked);
    const planning = this.plannings.find(wallet);
    if (!planning) return { outcome: 'unavailable', reason: `this worker has no wallet ${wallet}` };
    const queue = AbortSignal.timeout(LONGEST_QUEUE_MS);
    // A dry run never throws, so a rejection means that its turn has not come.
    return this.#turns.run(wallet, queue, () => planning.dryRun(request)).catch(() => BUSY);
  }

  #parse(asked: PlanJobRequest): AgentJobRequest {
    try {
      return parseJobRequest(asked);
    } catch (error) {
      if (error instanceof JobRequestError) throw new RpcException(error.message);
      throw error;
    }
  }
}
