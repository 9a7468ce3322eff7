import { createSteps } from '../../plan/create-steps.js';
import { defineWrite } from '../define/operation.js';
import { WRITE_OPERATIONS } from '../define/write-operations.js';

export const perpsClosePosition = defineWrite({
  name: 'perpsClosePosition',
  ...WRITE_OPERATIONS.perpsClosePosition,
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
