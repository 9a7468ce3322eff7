import type { TransactionReceipt } from 'viem';

import { AgentKitError } from '../agent-kit-error.js';
import type { Step } from '../plan/plan.js';
import type { ExecutionContext } from './executor.js';
import { explainFailure } from './explain-failure.js';
import { findReportedFailure, type CallTrace } from './find-reported-failure.js';

/** A step as far as its outcome needs it. */
export type CalledStep = Pick<Step, 'to' | 'data' | 'value' | 'failures'>;

/** A receipt as far as its outcome needs it. */
export type MinedCall = Pick<TransactionReceipt, 'status' | 'blockNumber'> & Pick<CallTrace, 'logs'>;

type Reader = Pick<ExecutionContext, 'client' | 'account'>;

/** What went wrong in a mined transaction, or null when it did what it should: a receipt that says success is not enough. */
export async function readFailure(
  context: Reader,
  step: CalledStep,
  receipt: MinedCall,
): Promise<AgentKitError | null> {
  if (receipt.status === 'reverted') return explainMinedRevert(context, step, receipt);
  return findReportedFailure(step, receipt);
}

/** Runs the call again on the state before its block; what else was in the block may be the very cause, then it is not found. */
async function explainMinedRevert(
  { client, account }: Reader,
  step: CalledStep,
  receipt: MinedCall,
): Promise<AgentKitError> {
  const call = { account, to: step.to, data: step.data, value: step.value };
  for (const blockNumber of [receipt.blockNumber, receipt.blockNumber - 1n]) {
    const failure = await client.call({ ...call, blockNumber }).then(
      () => null,
      (error: unknown) => explainFailure(error, step.failures),
    );
    if (failure && failure.code !== 'NETWORK_ERROR') return failure;
  }
  return new AgentKitError('REVERTED', 'The transaction was mined and reverted; its reason is not known any more.');
}
