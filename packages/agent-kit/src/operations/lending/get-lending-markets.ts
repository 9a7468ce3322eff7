import { formatTokenAmount } from '@tollgate/protocol';
import { z } from 'zod';

import { defineRead } from '../define/operation.js';

export const getLendingMarkets = defineRead({
  name: 'getLendingMarkets',
  title: 'List the lending markets',
  description:
    'The tokens that can be supplied and borrowed, with yearly rates in percent and the amounts available to borrow.',
  input: z.object({}),
  output: z.object({
    markets: z.array(
      z.object({
        symbol: z.string(),
        tokenAddress: z.string(),
        market: z.string().describe('Contract address of the market'),
        collateralFactor: z.string().describe('The part of the value that can be borrowed against it'),
        supplyRatePercent: z.string(),
        borrowRatePercent: z.string(),
        cash: z.string().describe('Amount available to borrow or withdraw, in whole units'),
      }),
    ),
  }),
  async read(_input, { protocols }) {
    const markets = await protocols.require('lending').readMarkets();
    return {
      markets: markets.map(({ token, cash, ...terms }) => ({
        symbol: token.symbol,
        tokenAddress: token.address,
        ...terms,
        cash: formatTokenAmount(cash, token.decimals),
      })),
    };
  },
});
