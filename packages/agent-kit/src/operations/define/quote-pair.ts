import type { z } from 'zod';

import { AgentKitError } from '../../agent-kit-error.js';
import type { SwapQuote } from '../../protocols/protocol.js';
import { parseAmount } from '../../tokens/parse-amount.js';
import { showSymbol } from '../../tokens/show-token.js';
import type { Token, TokenAmount } from '../../tokens/token.js';
import type { OperationContext } from './operation.js';
import type { pairSchema } from './write-operations.js';

/** @throws AgentKitError `INVALID_INPUT` when both tokens are the same, or the amount does not fit the token. */
export async function resolvePair(
  { amount, fromToken, toToken }: z.output<typeof pairSchema>,
  { tokens }: OperationContext,
): Promise<{ sold: TokenAmount; to: Token }> {
  const [from, to] = await Promise.all([tokens.resolve(fromToken), tokens.resolve(toToken)]);
  if (from.address === to.address) {
    throw new AgentKitError('INVALID_INPUT', `Both tokens of the swap are ${showSymbol(from)}.`, {
      details: { fromToken: from.address, toToken: to.address },
      suggestion: 'Name two different tokens.',
    });
  }
  return { sold: parseAmount(amount, from), to };
}

/** The protocol's quote, with a warning for each token that is not listed. */
export async function quotePair(
  { sold, to }: { sold: TokenAmount; to: Token },
  { protocols, account }: OperationContext,
): Promise<SwapQuote> {
  const { token: from, amountBaseUnits: amountIn } = sold;
  const quote = await protocols.require('swap').quote({ from, to, amountIn, account });
  return { ...quote, warnings: [...quote.warnings, ...warnOfUnlisted([from, to])] };
}

/** One sentence for each token that is not in the chain's token list. */
export function warnOfUnlisted(tokens: readonly Token[]): string[] {
  return tokens
    .filter(({ isListed }) => !isListed)
    .map(
      (token) =>
        `${token.address} calls itself ${showSymbol(token)} and is not in the token list: make sure it is the token you mean.`,
    );
}
