import type { TransactionReceipt } from 'viem';

import { AgentKitError } from '../agent-kit-error.js';
import type { Step } from '../plan/plan.js';
import type { ExecutionContext } from './executor.js';
import { explainFailure } from './explain-failure.js';
import { findReportedFailure, type CallTrace } from './find-reported-failure.js';

/** The fields of a step that its outcome depends on. */
export type CalledStep = Pick<Step, 'to' | 'data' | 'value' | 'failures'>;

/** The fields of a receipt that the outcome depends on. */
export type MinedCall = Pick<TransactionReceipt, 'status' | 'blockNumber'> & Pick<CallTrace, 'logs'>;

type Reader = Pick<ExecutionContext, 'client' | 'account'>;

/** The failure of a mined transaction, or null when it succeeded: a receipt with status success is not enough. */
export async function readFailure(
  context: Reader,
  step: CalledStep,
  receipt: MinedCall,
): Promise<AgentKitError | null> {
  if (receipt.status === 'reverted') return explainMinedRevert(context, step, receipt);
  return findReportedFailure(step, receipt);
}

/**
 * Runs the call again on the state before its block. If another transaction of the block caused the failure, it is not
 * found.
 */
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
  return new AgentKitError('REVERTED', 'The transaction was mined and reverted; its reason is no longer available.');
}
