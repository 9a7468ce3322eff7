import { decodeFunctionData, erc20Abi, type Address } from 'viem';

import type { Step } from '../types/plan.js';

/** An allowance that a call sets. */
export interface AllowanceCall {
  token: Address;
  spender: Address;
  amount: bigint;
}

/** The allowance that a call sets, whether or not its step declares an approval; null: it sets none. */
export function readAllowanceCall({ to, data }: Pick<Step, 'to' | 'data'>): AllowanceCall | null {
  // approve(address,uint256)
  if (!data.toLowerCase().startsWith('0x095ea7b3')) return null;
  const { args } = decodeFunctionData({ abi: APPROVE, data });
  const [spender, amount] = args;
  return { token: to, spender, amount };
}

const APPROVE = erc20Abi.filter((item) => item.type === 'function' && item.name === 'approve');
