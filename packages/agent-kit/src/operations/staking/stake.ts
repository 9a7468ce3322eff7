import { formatTokenAmount } from '@tollgate/protocol';

import { createSteps } from '../../plan/create-steps.js';
import { assertBalance } from '../../tokens/assert-balance.js';
import { parseAmount } from '../../tokens/parse-amount.js';
import { showAmount } from '../../tokens/show-token.js';
import { defineWrite } from '../define/operation.js';
import { WRITE_OPERATIONS } from '../define/write-operations.js';

export const stake = defineWrite({
  name: 'stake',
  ...WRITE_OPERATIONS.stake,
  async plan(input, context) {
    const staking = context.protocols.require('staking');
    const amount = parseAmount(input.amount, context.tokens.native);
    const action = await staking.createStake(amount.amountBaseUnits);
    await assertBalance(context, amount);
    const quote = await staking.quoteStake(amount.amountBaseUnits);
    // A tenth of a percent less, for the rewards that the receipt token gains until this is mined.
    const atLeast = { ...quote, amountBaseUnits: (quote.amountBaseUnits * 999n) / 1000n };
    return {
      summary: `Stake ${showAmount(amount)} for about ${showAmount(quote)}`,
      steps: createSteps(action),
      spends: [amount],
      receives: [atLeast],
      recipients: [],
      report: {
        amount: formatTokenAmount(amount.amountBaseUnits, amount.token.decimals),
        stakedToken: quote.token.symbol,
      },
    };
  },
});
