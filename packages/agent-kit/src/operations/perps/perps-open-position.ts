import { createSteps } from '../../plan/create-steps.js';
import { showAmount } from '../../tokens/show-token.js';
import { anyLeverageSchema } from '../define/input-schemas.js';
import { defineWrite } from '../define/operation.js';
import { WRITE_OPERATIONS } from '../define/write-operations.js';

export const perpsOpenPosition = defineWrite({
  name: 'perpsOpenPosition',
  ...WRITE_OPERATIONS.perpsOpenPosition,
  // The protocol refuses a leverage above its maximum, with a code of its own.
  input: WRITE_OPERATIONS.perpsOpenPosition.input.extend({ leverage: anyLeverageSchema }),
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
