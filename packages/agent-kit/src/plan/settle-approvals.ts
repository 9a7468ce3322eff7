import { addGasMargin } from '@tollgate/protocol';
import type { Address } from 'viem';

import { explainFailure } from '../chain/explain-failure.js';
import type { OperationContext } from '../operations/define/operation.js';
import { readAllowance } from '../tokens/balance.js';
import { createRevocation } from '../tokens/create-steps.js';
import type { AccountReader } from '../types/account-reader.js';
import { AgentKitError } from '../types/agent-kit-error.js';
import type { Approval, Step } from '../types/plan.js';
import type { SettledStep } from './limit-gas.js';

/**
 * The steps to send now. An approval is omitted if its allowance is already there; and since some tokens refuse to
 * change one allowance into another, theirs is set to 0 in between.
 */
export async function settleApprovals(reader: AccountReader, steps: readonly Step[]): Promise<readonly Step[]> {
  const settled = await Promise.all(
    steps.map(async (step) => (step.approval ? settle(reader, step, step.approval) : [step])),
  );
  return settled.flat();
}

async function settle(reader: AccountReader, step: Step, approval: Approval): Promise<Step[]> {
  const allowance = await readAllowance(reader, approval);
  if (allowance >= approval.amountBaseUnits) return [];
  if (allowance === 0n || (await isAccepted(reader, step))) return [step];
  return [createRevocation(approval), step];
}

async function isAccepted({ client, account }: AccountReader, { to, data, value }: Step): Promise<boolean> {
  try {
    await client.call({ account, to, data, value });
    return true;
  } catch (error) {
    // Any other error occurs in the simulation of the step too, and is reported there.
    if (explainFailure(error).code === 'NETWORK_ERROR') throw error;
    return false;
  }
}

/** An allowance that was set. */
export interface GrantedAllowance {
  token: Address;
  spender: Address;
  /** A block in which it was set already. */
  sinceBlock: number;
}

/**
 * The step that sets the rest of an allowance to 0. Null if there is no rest, or its token refuses.
 * @throws AgentKitError `NETWORK_ERROR`, also if the node is behind the block in which the allowance was set.
 */
export async function planRevocation(
  context: Pick<OperationContext, 'client' | 'account' | 'tokens'>,
  granted: GrantedAllowance,
): Promise<SettledStep | null> {
  const { client, account, tokens } = context;
  const { spender, sinceBlock } = granted;
  try {
    const token = await tokens.resolve(granted.token);
    const { number: blockNumber, gasLimit } = await client.getBlock();
    if (blockNumber < sinceBlock) {
      throw new AgentKitError('NETWORK_ERROR', `The network's node is behind block ${sinceBlock}.`, {
        details: { rpcTrouble: 'lags' },
      });
    }
    // Another node may answer this request. It refuses a block that it does not have; its latest may be an earlier one.
    if ((await readAllowance(context, { token, spender, blockNumber })) === 0n) return null;
    const step = createRevocation({ token, spender });
    const { to, data, value } = step;
    return { ...step, gasLimit: addGasMargin(await client.estimateGas({ account, to, data, value }), gasLimit) };
  } catch (error) {
    const failure = explainFailure(error);
    if (failure.code === 'NETWORK_ERROR') throw failure;
    return null;
  }
}
