import { formatTokenAmount } from '@tollgate/protocol';

import type { Token, TokenAmount } from './token.js';
import { quoteUntrusted } from './untrusted-text.js';

/** `1.5 USDC`. */
export function showAmount({ token, amountBaseUnits }: TokenAmount): string {
  return `${formatTokenAmount(amountBaseUnits, token.decimals)} ${showToken(token)}`;
}

/** A token that is not listed is named with its address: anybody may give a token any symbol. */
export function showToken(token: Token): string {
  return token.isListed ? token.symbol : `${showSymbol(token)} (${token.address}, not in the token list)`;
}

/** The short form, where the address stands elsewhere: a symbol that the token gave itself is in quotes. */
export function showSymbol({ symbol, isListed }: Pick<Token, 'symbol' | 'isListed'>): string {
  return isListed ? symbol : quoteUntrusted(symbol);
}
