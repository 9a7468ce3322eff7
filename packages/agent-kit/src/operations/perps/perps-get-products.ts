import { z } from 'zod';

import { defineRead } from '../define/operation.js';

export const perpsGetProducts = defineRead({
  name: 'perpsGetProducts',
  title: 'List the perpetuals',
  description: 'The products of the perpetuals exchange: prices, quantity steps, fees and weights as fractions of 1.',
  input: z.object({}),
  output: z.array(
    z.object({
      id: z.string(),
      symbol: z.string(),
      baseAsset: z.string(),
      quoteAsset: z.string(),
      active: z.boolean(),
      markPrice: z.string(),
      increment: z.string(),
      minQuantity: z.string(),
      maxQuantity: z.string(),
      makerFee: z.string(),
      takerFee: z.string(),
      initialWeight: z.string(),
      maintenanceWeight: z.string(),
    }),
  ),
  async read(_input, { protocols }) {
    return [...(await protocols.require('perps').readProducts())];
  },
});
