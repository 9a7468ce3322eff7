import { formatTokenAmount } from '@tollgate/protocol';
import { z } from 'zod';

import type { Token, TokenAmount } from '../types/token.js';
import { quoteUntrusted } from '../types/untrusted-text.js';

/** `1.5`. */
export function formatAmount({ token, amountBaseUnits }: TokenAmount): string {
  return formatTokenAmount(amountBaseUnits, token.decimals);
}

/** `1.5 USDC`. */
export function showAmount(amount: TokenAmount): string {
  return `${formatAmount(amount)} ${showToken(amount.token)}`;
}

/** A token that is not listed is shown with its address, because its contract can choose any symbol. */
export function showToken(token: Token): string {
  return token.isListed ? token.symbol : `${showSymbol(token)} (${token.address}, not in the token list)`;
}

/** The short form, used where the address is shown elsewhere: an unlisted token's own symbol is in quotes. */
export function showSymbol({ symbol, isListed }: Pick<Token, 'symbol' | 'isListed'>): string {
  return isListed ? symbol : quoteUntrusted(symbol);
}

/**
 * A token as read operations show it. `isListed` false: the ticker comes from the contract itself, and may be false.
 */
export const tickerSchema = z.object({
  ticker: z.string(),
  address: z.string(),
  decimals: z.number().int(),
  isListed: z.boolean().describe('Whether the ticker comes from the token list and not from the contract itself'),
});

export function describeTicker({ symbol, address, decimals, isListed }: Token): z.output<typeof tickerSchema> {
  return { ticker: symbol, address, decimals, isListed };
}
