import { quoteFees, type QuotedFees } from '@tollgate/protocol';
import { formatEther } from 'viem';

import type { Attempt, JobFailure, JobRecord } from '../jobs/job.js';
import { PlanFailure, WalletEmptyError, type JobPlan } from '../jobs/ports.js';
import { currentStep, type LaneWork } from '../lanes/lane-work.js';

/** The fees that the chain asks for now. */
export async function readQuote({ chain, signer, settings }: LaneWork): Promise<QuotedFees> {
  return quoteFees((await chain.readRecentHead(signer.address)).fees, settings);
}

/** The most wei that an attempt of the job's current step can cost, which is what a node asks for. */
export function costOf(
  { cancel }: LaneWork,
  job: JobRecord,
  { kind, maxFeePerGas }: Pick<Attempt, 'kind' | 'maxFeePerGas'>,
): bigint {
  const step = currentStep(job);
  const { gas, value } = step && kind !== 'cancel' ? step : { ...cancel, value: 0n };
  return value + gas * maxFeePerGas;
}

/**
 * Asks the planner. The plan is refused if the wallet could not pay for its next step: a node would refuse the signed
 * bytes, and the job would hold a nonce that all later ones wait behind.
 * @throws PlanFailure, WalletEmptyError, or what the planner throws
 */
export async function makePlan(work: LaneWork, job: JobRecord): Promise<JobPlan> {
  const { planner, lease, settings } = work;
  const plan = await planner.plan(job, { stepIndex: job.stepIndex, token: lease.token });
  const [step] = plan.steps;
  if (!step || settings.ordinaryGas === null) return plan;
  const { maxFeePerGas } = await readQuote(work);
  const lack = await findLack(work, step.value + step.gas * maxFeePerGas, maxFeePerGas);
  if (lack === 'empty') throw new WalletEmptyError('The wallet cannot pay for gas.');
  if (lack !== null) throw new PlanFailure(lack);
  return plan;
}

/**
 * Why the wallet cannot pay `costWei`: `empty`, if it could not even pay for an ordinary transaction; otherwise the
 * failure of the job, which alone asks for too much. Null: it can pay.
 */
export async function findLack(
  { chain, signer, settings: { ordinaryGas } }: LaneWork,
  costWei: bigint,
  maxFeePerGas: bigint,
): Promise<JobFailure | 'empty' | null> {
  const balance = await chain.readBalance(signer.address);
  if (balance >= costWei) return null;
  if (ordinaryGas === null || balance < ordinaryGas * maxFeePerGas) return 'empty';
  return {
    code: 'INSUFFICIENT_FUNDS',
    message: `There are insufficient funds: the transaction may cost ${formatEther(costWei)} of the native coin with its gas, ${formatEther(balance)} are available.`,
    suggestion: 'Send native coin to the wallet, then submit the job again under a new idempotency key.',
  };
}
