import { formatTokenAmount } from '@tollgate/protocol';
import { erc20Abi, getContract, type Address } from 'viem';

import type { AccountReader } from '../types/account-reader.js';
import { AgentKitError } from '../types/agent-kit-error.js';
import type { Token, TokenAmount } from '../types/token.js';
import { showSymbol } from './show-token.js';

/** The account's balance of a token, native or ERC-20, in base units. */
export async function readBalance({ client, account }: AccountReader, token: Token): Promise<bigint> {
  return token.isNative
    ? client.getBalance({ address: account })
    : getContract({ address: token.address, abi: erc20Abi, client }).read.balanceOf([account]);
}

/** The allowance of a spender for the account's tokens, in base units; now, unless a block is named. */
export function readAllowance(
  { client, account }: AccountReader,
  { token, spender, blockNumber }: { token: Pick<Token, 'address'>; spender: Address; blockNumber?: bigint },
): Promise<bigint> {
  const contract = getContract({ address: token.address, abi: erc20Abi, client });
  return contract.read.allowance([account, spender], { blockNumber });
}

/**
 * Asserts, in base units, that the account has at least the amount. Gas is not counted here; the simulation detects a
 * lack of it.
 * @param message the exact text of the error, if the caller documents one; `details` contains the figures in any case.
 * @throws AgentKitError `INSUFFICIENT_BALANCE`, for the native token `INSUFFICIENT_FUNDS`.
 */
export async function assertBalance(
  context: AccountReader,
  { token, amountBaseUnits }: TokenAmount,
  message?: string,
): Promise<void> {
  const balanceBaseUnits = await readBalance(context, token);
  if (balanceBaseUnits >= amountBaseUnits) return;
  const balance = formatTokenAmount(balanceBaseUnits, token.decimals);
  const needed = formatTokenAmount(amountBaseUnits, token.decimals);
  const symbol = showSymbol(token);
  const lack = token.isNative ? 'insufficient funds' : 'Insufficient balance';
  const text = message ?? `${lack}: ${needed} ${symbol} needed, ${balance} ${symbol} available.`;
  throw new AgentKitError(token.isNative ? 'INSUFFICIENT_FUNDS' : 'INSUFFICIENT_BALANCE', text, {
    details: { token: token.symbol, ...(!token.isNative && { address: token.address }), balance, needed },
  });
}
