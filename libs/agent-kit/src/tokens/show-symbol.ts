import type { Token } from './token.js';
import { quoteUntrusted } from './untrusted-text.js';

/** A symbol of the token list as it is; one that the token gave itself in quotes: anybody may take any symbol. */
export function showSymbol({ symbol, isListed }: Token): string {
  return isListed ? symbol : quoteUntrusted(symbol);
}
