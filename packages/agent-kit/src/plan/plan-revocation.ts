import type { Address } from 'viem';

import { explainFailure } from '../chain/explain-failure.js';
import type { OperationContext } from '../operations/define/operation.js';
import { readAllowance } from '../tokens/balance.js';
import { createRevocation } from '../tokens/create-steps.js';
import { addGasMargin, type SettledStep } from './limit-gas.js';

/**
 * The step that sets the rest of an allowance to 0. Null if there is no rest, or its token refuses.
 * @throws AgentKitError `NETWORK_ERROR`
 */
export async function planRevocation(
  context: Pick<OperationContext, 'client' | 'account' | 'tokens'>,
  approval: { token: Address; spender: Address },
): Promise<SettledStep | null> {
  const { client, account, tokens } = context;
  const { spender } = approval;
  try {
    const token = await tokens.resolve(approval.token);
    if ((await readAllowance(context, { token, spender })) === 0n) return null;
    const step = createRevocation({ token, spender });
    const { to, data, value } = step;
    return { ...step, gasLimit: addGasMargin(await client.estimateGas({ account, to, data, value })) };
  } catch (error) {
    const failure = explainFailure(error);
    if (failure.code === 'NETWORK_ERROR') throw failure;
    return null;
  }
}
