import { isHexBytes, type Hex } from '@tollgate/protocol';
import { stringToHex } from 'viem';

import type { JobRecord, LaneId, PlannedStep } from '../src/jobs/job.js';
import type { JobPlanner, PlanPolicy } from '../src/jobs/ports.js';
import type { PlannedJob } from '../src/steps/launch-job.js';

export const RECEIVER: Hex = '0x00000000000000000000000000000000000a11ce';

/** The input of these tests' jobs: one transfer per receiver, one after the other. */
export interface TransferInput {
  receivers: readonly Hex[];
  /** The calldata of each transfer, in place of its own mark. */
  data?: Hex;
  gas?: string;
  /** The value of each transfer; default 1 wei. */
  value?: string;
}

/** Marks a transaction with its step, so that the chain itself shows how often each was mined. */
export function markOf(jobId: string, stepIndex: number): Hex {
  return stringToHex(`${jobId}/${stepIndex}`);
}

/** Its conditions are answers to a call. */
export const TEST_POLICY: PlanPolicy = {
  holds: async (condition, call) => {
    const { to, data, is } = condition as { to: Hex; data: Hex; is: Hex };
    return (await call(to, data)) === is;
  },
  explainRefusal: ({ reason, ...details }) => ({
    code: reason.toUpperCase(),
    message: Object.values(details).join(' '),
    suggestion: 'Try again.',
  }),
  explainLock: (holder) => ({ code: 'allowance', message: `Job ${holder} has it.`, suggestion: 'Wait.' }),
};

/** Plans transfers, each marked with its job and step. */
export const transferPlanner: JobPlanner = {
  plan: (job, { stepIndex }) => {
    const steps = planTransfers(job).slice(stepIndex);
    return Promise.resolve({ steps, preview: null, floorsHash: 'none', needsApproval: false });
  },
};

/** A job of one such transfer, planned before it is submitted. */
export function planTransfer(lane: LaneId, jobId: string, to: Hex = RECEIVER): PlannedJob {
  const input = { receivers: [to] };
  const [step] = planTransfers({ id: jobId, input });
  if (!step) throw new Error('a transfer has one step');
  return { lane, jobId, operation: 'transfer', input, wallet: 'main', keyId: 'key-1', step };
}

function planTransfers(job: Pick<JobRecord, 'id' | 'input'>): PlannedStep[] {
  const { receivers, data, gas, value } = job.input as unknown as TransferInput;
  return receivers.map((to, index) => ({
    label: `Transfer ${index}`,
    to,
    data: isHexBytes(data) ? data : markOf(job.id, index),
    value: BigInt(value ?? '1'),
    gas: BigInt(gas ?? '60000'),
  }));
}
