import { formatTokenAmount } from '@tollgate/protocol';
import { z } from 'zod';

import { subtractSlippage } from '../protocols/subtract-slippage.js';
import { defineRead } from './operation.js';
import { pairSchema, quotePair, resolvePair } from './quote-pair.js';
import { describeTicker, tickerSchema } from './ticker.js';

export const getSwapQuote = defineRead({
  name: 'getSwapQuote',
  title: 'Quote a swap',
  description: 'What a swap would bring now, in whole units of the token that is bought. Nothing is sent.',
  input: pairSchema,
  output: z.object({
    fromToken: tickerSchema,
    toToken: tickerSchema,
    amount: z.string().describe('Sold, in whole units'),
    expectedAmount: z.string().describe('Bought at the present price, fees of the pools taken off'),
    minimumAmount: z.string().describe('The least that a swap with the present slippage tolerance would accept'),
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
