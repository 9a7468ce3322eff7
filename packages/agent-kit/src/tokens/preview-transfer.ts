import { BaseError, encodeFunctionData, erc20Abi, size, type Address } from 'viem';

import type { AccountReader } from '../types/account-reader.js';
import type { TokenAmount } from '../types/token.js';

/**
 * How much of an ERC-20 transfer would arrive, in base units: some tokens keep a part. Null if the node cannot simulate
 * several calls, or the transfer is refused, whose reason the plan's own simulation reports.
 */
export async function previewTransfer(
  { client, account }: AccountReader,
  { token, amountBaseUnits }: TokenAmount,
  to: Address,
): Promise<bigint | null> {
  const readBalance = {
    to: token.address,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [to],
  } as const;
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amountBaseUnits] });
  try {
    const [block] = await client.simulateBlocks({
      blocks: [{ calls: [readBalance, { account, to: token.address, data }, readBalance] }],
    });
    const [before, transfer, after] = block?.calls ?? [];
    if (!before || !transfer || !after || transfer.status === 'failure') return null;
    // A token may return nothing, or any number of bytes: only one word is an amount.
    if ([before, after].some(({ status, data }) => status === 'failure' || size(data) !== 32)) return null;
    return BigInt(after.data) - BigInt(before.data);
  } catch (error) {
    if (error instanceof BaseError) return null;
    throw error;
  }
}
