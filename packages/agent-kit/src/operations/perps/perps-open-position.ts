import { z } from 'zod';

import { createSteps } from '../../plan/create-steps.js';
import { showAmount } from '../../tokens/show-token.js';
import { amountSchema, leverageSchema } from '../define/input-schemas.js';
import { defineWrite } from '../define/operation.js';
import { perpsProductSchema } from './perps-product.js';

export const perpsOpenPosition = defineWrite({
  name: 'perpsOpenPosition',
  title: 'Open a position',
  description:
    'Opens a long or short position of an amount of the base asset on the perpetuals exchange, or adds to an existing one of that side. The margin has to be deposited before.',
  input: z.object({
    product: perpsProductSchema,
    side: z.enum(['long', 'short']).describe('long profits when the price rises, short when it falls'),
    amount: amountSchema.describe('Decimal amount of the base asset, for example "0.5"'),
    leverage: leverageSchema,
  }),
  async plan(input, context) {
    const { slippageBps, account } = context;
    const { leverage = 1, side } = input;
    const perps = context.protocols.require('perps');
    const { product, quantity, baseAsset, limitPrice, fees, locks, ...action } = await perps.createOpen({
      product: input.product,
      side,
      quantity: input.amount,
      leverage,
      slippageBps,
      account,
    });
    const worst = side === 'long' ? 'at most' : 'at least';
    return {
      summary: `Open ${side} ${quantity} ${baseAsset} of ${product} at ${leverage}x for ${worst} ${limitPrice}, with about ${showAmount(locks)} of margin and fee`,
      steps: createSteps(action),
      spends: [],
      receives: [],
      recipients: [],
      fees,
      slippageBps,
      report: { product, side, amount: quantity, leverage: String(leverage), limitPrice },
    };
  },
});
