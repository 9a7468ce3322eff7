import { erc20Abi, type Address } from 'viem';

import type { OperationContext } from '../operations/define/operation.js';
import type { Token } from './token.js';

/** The balance of an address in a token, native or ERC-20, in base units. */
export async function readBalance(
  { client, account }: Pick<OperationContext, 'client' | 'account'>,
  token: Token,
  owner: Address = account,
): Promise<bigint> {
  return token.isNative
    ? client.getBalance({ address: owner })
    : client.readContract({ address: token.address, abi: erc20Abi, functionName: 'balanceOf', args: [owner] });
}
