import type { TransactionFacts } from '@tollgate/book-events';

import type { JobRecord, StepRecord } from '../jobs/job.js';
import type { ReportTransaction, StepReceipt } from '../jobs/ports.js';

/** What every transaction has. The step has its nonce. */
export function describeTransaction(job: JobRecord, step: StepRecord, receipt: StepReceipt): TransactionFacts {
  return {
    chainId: job.lane.chainId,
    transaction: receipt.transactionHash,
    nonce: step.nonce ?? 0,
    outcome: receipt.status,
    gasUsed: receipt.gasUsed.toString(),
    effectiveGasPrice: receipt.effectiveGasPrice?.toString() ?? null,
    blockNumber: receipt.blockNumber,
    blockHash: receipt.blockHash,
    jobId: job.id,
    operation: job.operation,
  };
}

/** The report of a wallet's transaction. */
export const reportJobTransaction: ReportTransaction = (job, step, receipt) => {
  const kind = step.attempts.find(({ hash }) => hash === receipt.transactionHash)?.kind ?? 'first';
  // A reverted transaction, and one that only uses up its nonce, move no native coin.
  const value = kind === 'cancel' || receipt.status === 'reverted' ? 0n : step.value;
  const wallet = { wallet: job.lane.address, step: job.stepIndex, kind, value: value.toString() };
  return { type: 'job_transaction', facts: { ...describeTransaction(job, step, receipt), ...wallet } };
};
