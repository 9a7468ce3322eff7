import type { Hex } from '@tollgate/protocol';
import { PlanFailure, type JobPlan, type JobPlanner, type JobRecord } from '@tollgate/transactions';

import type { RpcBatcher } from '../chain/rpc-batcher.js';
import { encodeSettlement, type SettlementCall } from './encode-settlement.js';
import { estimateSettlement } from './estimate-settlement.js';
import { readPermitJobCall, SETTLE_PERMIT_OPERATION } from './permit-job.js';
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
    const call = job.operation === SETTLE_PERMIT_OPERATION ? readPermitJobCall(job) : readCall(job);
    const deadlineMs = nowMs() + PLANNED_WITHIN_MS;
    const estimate = await estimateSettlement(batcher, call, { from: relayer, deadlineMs });
    if (estimate === null) throw refused('The payment cannot be settled as the chain is now.');
    if (estimate > gasCap) throw refused('Settling the payment takes more gas than is allowed for one.');
    const gas = estimate + estimate / 5n;
    const step = { ...call, label: 'Settle 1 payment', value: 0n, gas: gas > gasCap ? gasCap : gas };
    return { steps: [step], preview: null, floorsHash: 'none', needsApproval: false };
  }
}

function readCall(job: JobRecord): SettlementCall {
  const [entry] = parseSettlementJob(job);
  if (!entry) throw refused('There is nothing to settle.');
  return encodeSettlement(entry, false);
}

function refused(message: string): PlanFailure {
  return new PlanFailure({
    code: 'SETTLEMENT_REFUSED',
    message,
    suggestion: 'Nothing was sent; ask the payer for another payment.',
  });
}
