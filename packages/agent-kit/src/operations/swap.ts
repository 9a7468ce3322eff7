import { formatTokenAmount } from '@tollgate/protocol';
import { z } from 'zod';

import { readDeadline } from '../chain/read-next-block-time.js';
import { subtractSlippage } from '../protocols/amount-math.js';
import type { SwapQuote } from '../protocols/protocol.js';
import { assertBalance } from '../tokens/balance.js';
import { createSteps } from '../tokens/create-steps.js';
import { parseAmount } from '../tokens/parse-amount.js';
import { describeTicker, formatAmount, showAmount, showSymbol, tickerSchema } from '../tokens/show-token.js';
import { AgentKitError } from '../types/agent-kit-error.js';
import type { Token, TokenAmount } from '../types/token.js';
import { defineListed, defineRead, type OperationContext } from './define/operation.js';
import { pairSchema } from './define/write-operations.js';

export const getSwapQuote = defineRead({
  name: 'getSwapQuote',
  title: 'Quote a swap',
  description: 'The result of a swap at current prices, in whole units of the token to buy. Sends nothing.',
  input: pairSchema,
  output: z.object({
    fromToken: tickerSchema,
    toToken: tickerSchema,
    amount: z.string().describe('Amount sold, in whole units'),
    expectedAmount: z.string().describe('Amount bought at the current price, after pool fees'),
    minimumAmount: z.string().describe('Minimum amount that a swap with the current slippage tolerance would accept'),
    slippageBps: z.number().int(),
    route: z.string(),
    fees: z.array(z.object({ label: z.string(), text: z.string() })),
    warnings: z.array(z.string()),
  }),
  async read(input, context) {
    const { sold, to } = await resolvePair(input, context);
    const quote = await quotePair({ sold, to }, context);
    const slippageBps = quote.isOneToOne ? 0 : context.slippageBps;
    return {
      fromToken: describeTicker(sold.token),
      toToken: describeTicker(to),
      amount: formatAmount(sold),
      expectedAmount: formatTokenAmount(quote.expectedOut, to.decimals),
      minimumAmount: formatTokenAmount(subtractSlippage(quote.expectedOut, slippageBps), to.decimals),
      slippageBps,
      route: quote.route,
      fees: [...quote.fees],
      warnings: [...quote.warnings],
    };
  },
});

export const swap = defineListed('swap', async (input, context) => {
  const { sold, to } = await resolvePair(input, context);
  await assertBalance(context, sold, 'Insufficient balance for swap');
  const quote = await quotePair({ sold, to }, context);
  const slippageBps = quote.isOneToOne ? 0 : (input.slippageBps ?? context.slippageBps);
  const minimum = { token: to, amountBaseUnits: subtractSlippage(quote.expectedOut, slippageBps) };
  const { deadlineSeconds, expiresAtMs } = await readDeadline(context.client);
  const action = await quote.createSwap({
    minimumOut: minimum.amountBaseUnits,
    slippageBps,
    recipient: context.account,
    deadlineSeconds,
  });
  return {
    summary: quote.isOneToOne
      ? `Exchange ${showAmount(sold)} for ${showAmount(minimum)}, one to one`
      : `Swap ${showAmount(sold)} for at least ${showAmount(minimum)}`,
    steps: createSteps(action),
    spends: [sold],
    receives: [minimum],
    recipients: [],
    fees: quote.fees,
    ...(quote.isOneToOne ? {} : { slippageBps }),
    warnings: quote.warnings,
    report: {
      fromToken: sold.token.symbol,
      toToken: to.symbol,
      amount: formatAmount(sold),
      ...(quote.isOneToOne && { received: formatAmount(minimum) }),
    },
    expiresAtMs,
  };
});

/** @throws AgentKitError `INVALID_INPUT` when both tokens are the same, or the amount does not fit the token. */
async function resolvePair(
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
async function quotePair(
  { sold, to }: { sold: TokenAmount; to: Token },
  { protocols, account }: OperationContext,
): Promise<SwapQuote> {
  const { token: from, amountBaseUnits: amountIn } = sold;
  const protocol = await protocols.require('swap');
  const quote = await protocol.quote({ from, to, amountIn, account });
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
