import { formatTokenAmount } from '@tollgate/protocol';

import { createSteps } from '../../plan/create-steps.js';
import { assertBalance } from '../../tokens/assert-balance.js';
import { parseAmount } from '../../tokens/parse-amount.js';
import { showAmount } from '../../tokens/show-token.js';
import { defineWrite } from '../define/operation.js';
import { WRITE_OPERATIONS } from '../define/write-operations.js';

export const mintLending = defineWrite({
  name: 'mintLending',
  ...WRITE_OPERATIONS.mintLending,
  async plan(input, context) {
    const lending = context.protocols.require('lending');
    const token = await lending.resolveMarket(input.symbol);
    const amount = parseAmount(input.amount, token);
    await assertBalance(context, amount);
    const action = await lending.createSupply(amount);
    return {
      summary: `Supply ${showAmount(amount)} to ${lending.name}`,
      steps: createSteps(action),
      spends: [amount],
      receives: [],
      recipients: [],
      report: { symbol: token.symbol, amount: formatTokenAmount(amount.amountBaseUnits, token.decimals) },
    };
  },
});
