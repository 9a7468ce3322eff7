import { formatTokenAmount } from '@tollgate/protocol';

import type { Token, TokenAmount } from './token.js';
import { quoteUntrusted } from './untrusted-text.js';

/** A token for people. One that is not listed is named with its address: anybody may give a token any symbol. */
export function nameToken({ symbol, address, isListed }: Token): string {
  return isListed ? symbol : `${quoteUntrusted(symbol)} (${address}, not in the token list)`;
}

/** `1.5 USDC`. */
export function nameAmount({ token, amountBaseUnits }: TokenAmount): string {
  return `${formatTokenAmount(amountBaseUnits, token.decimals)} ${nameToken(token)}`;
}
