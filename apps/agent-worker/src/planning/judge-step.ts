import { setTimeout as sleep } from 'node:timers/promises';

import { type OperationPlanner, restoreFailures, type StoredFailures } from '@tollgate/agent-kit/planner';
import type { JudgeStep, StepReceipt, StepRecord, StepVerdict } from '@tollgate/journal';

import type { PaymentAnswers } from '../payments/payment-answers.js';
import { toJobFailure } from './planning-trouble.js';

/** The lane waits for a verdict: one that takes longer is fetched at the next look. */
const PATIENCE_MS = 500;
/** The most verdicts kept that no call has fetched, for instance because the lane went to another process. */
const MOST_UNFETCHED = 1000;

const LATER: StepVerdict = { outcome: 'later' };

/**
 * Judges mined steps. The reason for a revert is found by running its call again at its block. A receipt's success is
 * not trusted for contracts that report failures as return codes.
 */
export function createJudge(kit: OperationPlanner, answers: Pick<PaymentAnswers, 'judge'>): JudgeStep {
  const explaining = new Map<string, Promise<StepVerdict>>();

  const explainSoon = async (step: StepRecord, receipt: StepReceipt): Promise<StepVerdict> => {
    const name = `${receipt.transactionHash}@${receipt.blockHash}`;
    const verdict = explaining.get(name) ?? readVerdict(kit, step, receipt);
    explaining.set(name, verdict);
    const [oldest] = explaining.keys();
    if (oldest !== undefined && explaining.size > MOST_UNFETCHED) explaining.delete(oldest);
    const enough = new AbortController();
    const later = sleep(PATIENCE_MS, LATER, { signal: enough.signal }).catch(() => LATER);
    const first = await Promise.race([verdict, later]).finally(() => enough.abort());
    if (first !== LATER) explaining.delete(name);
    return first;
  };

  return async (job, step, receipt, context) => {
    if (receipt.status === 'reverted') return explainSoon(step, receipt);
    const verdict = await readVerdict(kit, step, receipt);
    const isPayment = job.operation === 'payment' && verdict.outcome === 'done';
    return isPayment ? answers.judge(job, step, receipt, context) : verdict;
  };
}

/** The chain is read only for a transaction that reverted. */
async function readVerdict(kit: OperationPlanner, step: StepRecord, receipt: StepReceipt): Promise<StepVerdict> {
  const { to, data, value } = step;
  // Written by `createJobStep`.
  const failures = restoreFailures((step.failures ?? {}) as unknown as StoredFailures);
  const { status, logs } = receipt;
  const mined = { status, logs, blockNumber: BigInt(receipt.blockNumber) };
  const failure = await kit.readFailure({ to, data, value, failures }, mined);
  if (!failure) return { outcome: 'done' };
  const outcome = failure.details['isUncertain'] ? 'needs_operator' : 'failed';
  return { outcome, failure: toJobFailure(failure) };
}
