import { formatTokenAmount } from '@tollgate/protocol';
import { z } from 'zod';

import { defineRead } from '../define/operation.js';

export const perpsGetPositions = defineRead({
  name: 'perpsGetPositions',
  title: 'Read margin and positions',
  description: 'The account’s free margin on the perpetuals exchange and its open positions with profit or loss.',
  input: z.object({}),
  output: z.object({
    freeMargin: z.string(),
    marginToken: z.string(),
    positions: z.array(
      z.object({
        product: z.string(),
        side: z.enum(['long', 'short']),
        quantity: z.string(),
        entryPrice: z.string(),
        margin: z.string(),
        unrealizedPnl: z.string(),
        liquidationPrice: z.string().nullable(),
      }),
    ),
  }),
  async read(_input, { protocols, account }) {
    const { freeMargin, positions } = await protocols.require('perps').readAccount(account);
    return {
      freeMargin: formatTokenAmount(freeMargin.amountBaseUnits, freeMargin.token.decimals),
      marginToken: freeMargin.token.symbol,
      positions: [...positions],
    };
  },
});
