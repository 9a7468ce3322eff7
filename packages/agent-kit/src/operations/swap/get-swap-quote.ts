import { formatTokenAmount } from '@tollgate/protocol';
import { z } from 'zod';

import { subtractSlippage } from '../../protocols/subtract-slippage.js';
import { defineRead } from '../define/operation.js';
import { quotePair, resolvePair } from '../define/quote-pair.js';
import { describeTicker, tickerSchema } from '../define/ticker.js';
import { pairSchema } from '../define/write-operations.js';

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
      amount: formatTokenAmount(sold.amountBaseUnits, sold.token.decimals),
      expectedAmount: formatTokenAmount(quote.expectedOut, to.decimals),
      minimumAmount: formatTokenAmount(subtractSlippage(quote.expectedOut, slippageBps), to.decimals),
      slippageBps,
      route: quote.route,
      fees: [...quote.fees],
      warnings: [...quote.warnings],
    };
  },
});
