import { ChainUnavailableError } from '@tollgate/chain';
import { decodeFunctionResult, encodeFunctionData, erc20Abi } from 'viem';

import type { AllowanceHolds } from './job.js';
import type { Chain } from './rpc/chain.js';

/**
 * Reads whether the condition holds at the latest block: the allowance is at least the amount, or zero where the amount
 * is zero.
 * @throws ChainUnavailableError when the chain gives no usable answer
 */
export async function readHolds(chain: Chain, { token, owner, spender, amount }: AllowanceHolds): Promise<boolean> {
  const call = { abi: erc20Abi, functionName: 'allowance' } as const;
  const result = await chain.call(token, encodeFunctionData({ ...call, args: [owner, spender] }));
  let allowance: bigint;
  try {
    allowance = decodeFunctionResult({ ...call, data: result });
  } catch (cause) {
    throw new ChainUnavailableError('rpc_malformed', "The token's answer is not an allowance.", { cause });
  }
  return amount === 0n ? allowance === 0n : allowance >= amount;
}
