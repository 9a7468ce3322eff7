import type { Hex } from '@tollgate/protocol';
import { PlanFailure, type JobPlan, type JobPlanner, type JobRecord } from '@tollgate/transactions';

import type { RpcBatcher } from '../chain/rpc-batcher.js';
import { encodeSettlement } from './encode-settlement.js';
import { estimateSettlement } from './estimate-settlement.js';
import { parseSettlementJob } from './settlement-job.js';

export interface SettlementPlannerOptions {
  batcher: RpcBatcher;
  relayer: Hex;
  /** For one payment. */
  gasCap: bigint;
  nowMs: () => number;
}

const PLANNED_WITHIN_MS = 5_000;

/** Makes a relayer's job into its one transaction. */
export class SettlementPlanner implements JobPlanner {
  constructor(private readonly options: SettlementPlannerOptions) {}

  async plan(job: JobRecord): Promise<JobPlan> {
    const { batcher, relayer, gasCap, nowMs } = this.options;
    const [entry] = parseSettlementJob(job);
    if (!entry) throw refused('There is nothing to settle.');
    const call = encodeSettlement(entry, false);
    const deadlineMs = nowMs() + PLANNED_WITHIN_MS;
    const estimate = await estimateSettlement(batcher, call, { from: relayer, deadlineMs });
    if (estimate === null) throw refused('The payment cannot be settled as the chain is now.');
    if (estimate > gasCap) throw refused('Settling the payment takes more gas than is allowed for one.');
    const gas = estimate + estimate / 5n;
    const step = { ...call, label: 'Settle 1 payment', value: 0n, gas: gas > gasCap ? gasCap : gas };
    return { steps: [step], preview: null, floorsHash: 'none', needsApproval: false };
  }
}

function refused(message: string): PlanFailure {
  return new PlanFailure({
    code: 'SETTLEMENT_REFUSED',
    message,
    suggestion: 'Nothing was sent; ask the payer for another payment.',
  });
}
