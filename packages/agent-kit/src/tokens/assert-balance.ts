import { formatTokenAmount } from '@tollgate/protocol';

import { AgentKitError } from '../agent-kit-error.js';
import type { OperationContext } from '../operations/define/operation.js';
import { readBalance } from './read-balance.js';
import { showSymbol } from './show-token.js';
import type { TokenAmount } from './token.js';

/**
 * Asserts, in base units, that the account has at least the amount. Gas is not counted here; the simulation detects a
 * lack of it.
 * @param message the exact text of the error, if the caller documents one; `details` contains the figures in any case.
 * @throws AgentKitError `INSUFFICIENT_BALANCE`, for the native token `INSUFFICIENT_FUNDS`.
 */
export async function assertBalance(
  context: Pick<OperationContext, 'client' | 'account'>,
  { token, amountBaseUnits }: TokenAmount,
  message?: string,
): Promise<void> {
  const balanceBaseUnits = await readBalance(context, token);
  if (balanceBaseUnits >= amountBaseUnits) return;
  const balance = formatTokenAmount(balanceBaseUnits, token.decimals);
  const needed = formatTokenAmount(amountBaseUnits, token.decimals);
  const symbol = showSymbol(token);
  const figures = `${needed} ${symbol} needed, ${balance} ${symbol} available`;
  throw token.isNative
    ? new AgentKitError('INSUFFICIENT_FUNDS', message ?? `insufficient funds: ${figures}.`, {
        details: { token: token.symbol, balance, needed },
      })
    : new AgentKitError('INSUFFICIENT_BALANCE', message ?? `Insufficient balance: ${figures}.`, {
        details: { token: token.symbol, address: token.address, balance, needed },
      });
}
