import { erc20Abi, type Address } from 'viem';

import type { OperationContext } from '../operations/define/operation.js';
import type { Token } from './token.js';

/** The current allowance of a spender for the account's tokens, in base units. */
export function readAllowance(
  { client, account }: Pick<OperationContext, 'client' | 'account'>,
  { token, spender }: { token: Token; spender: Address },
): Promise<bigint> {
  const request = { address: token.address, abi: erc20Abi, functionName: 'allowance' } as const;
  return client.readContract({ ...request, args: [account, spender] });
}
