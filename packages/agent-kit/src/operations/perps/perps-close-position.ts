import { z } from 'zod';

import { createSteps } from '../../plan/create-steps.js';
import { amountSchema } from '../define/input-schemas.js';
import { defineWrite } from '../define/operation.js';
import { perpsProductSchema } from './perps-product.js';

export const perpsClosePosition = defineWrite({
  name: 'perpsClosePosition',
  title: 'Close a position',
  description: 'Closes a position on the perpetuals exchange: all of it, or an amount of the base asset.',
  input: z.object({
    product: perpsProductSchema,
    amount: amountSchema.optional().describe('Decimal amount of the base asset; if omitted, all of it'),
  }),
  async plan(input, context) {
    const { slippageBps, account } = context;
    const perps = context.protocols.require('perps');
    const { product, side, quantity, baseAsset, limitPrice, fees, ...action } = await perps.createClose({
      product: input.product,
      quantity: input.amount ?? null,
      slippageBps,
      account,
    });
    const worst = side === 'long' ? 'at least' : 'at most';
    return {
      summary: `Close ${side} ${quantity} ${baseAsset} of ${product} for ${worst} ${limitPrice}`,
      steps: createSteps(action),
      spends: [],
      receives: [],
      recipients: [],
      fees,
      slippageBps,
      report: { product, side, amount: quantity, limitPrice },
    };
  },
});
