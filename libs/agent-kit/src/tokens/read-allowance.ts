import { erc20Abi, type Address } from 'viem';

import type { OperationContext } from '../operations/operation.js';
import type { Token } from './token.js';

/** What a spender may take of the account's tokens now, in base units. */
export function readAllowance(
  { client, account }: Pick<OperationContext, 'client' | 'account'>,
  { token, spender }: { token: Token; spender: Address },
): Promise<bigint> {
  const request = { address: token.address, abi: erc20Abi, functionName: 'allowance' } as const;
  return client.readContract({ ...request, args: [account, spender] });
}
