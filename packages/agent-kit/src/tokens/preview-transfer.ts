import { formatTokenAmount } from '@tollgate/protocol';
import { BaseError, encodeFunctionData, erc20Abi, size, type Address, type PublicClient } from 'viem';

import type { AccountReader } from '../types/account-reader.js';
import { AgentKitError } from '../types/agent-kit-error.js';
import type { TokenAmount } from '../types/token.js';
import { showSymbol } from './show-token.js';

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

/**
 * Tries a transfer between an account and a pool, sending nothing: a token that keeps a part of each transfer breaks
 * the assumptions of pools and minimum amounts. Listed tokens are known not to; if the transfer cannot be tried, the
 * plan's simulation decides.
 * @throws AgentKitError `INVALID_INPUT` when less arrives than was sent.
 */
export async function assertArrivesWhole(
  client: PublicClient,
  amount: TokenAmount,
  { from, to }: { from: Address; to: Address },
): Promise<void> {
  const { token, amountBaseUnits } = amount;
  if (token.isListed || token.isNative) return;
  const arriving = await previewTransfer({ client, account: from }, amount, to);
  if (arriving === null || arriving >= amountBaseUnits) return;
  const sent = formatTokenAmount(amountBaseUnits, token.decimals);
  const received = formatTokenAmount(arriving < 0n ? 0n : arriving, token.decimals);
  throw new AgentKitError(
    'INVALID_INPUT',
    `The token ${showSymbol(token)} (${token.address}) keeps a part of each transfer: of ${sent} only ${received} arrive. Such tokens can be neither swapped nor pooled.`,
    { details: { token: token.address, sent, received }, suggestion: 'Use another token.' },
  );
}
