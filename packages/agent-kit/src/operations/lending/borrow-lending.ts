import { formatTokenAmount } from '@tollgate/protocol';

import { createSteps } from '../../plan/create-steps.js';
import { parseAmount } from '../../tokens/parse-amount.js';
import { showAmount } from '../../tokens/show-token.js';
import { defineWrite } from '../define/operation.js';
import { WRITE_OPERATIONS } from '../define/write-operations.js';

export const borrowLending = defineWrite({
  name: 'borrowLending',
  ...WRITE_OPERATIONS.borrowLending,
  async plan(input, context) {
    const lending = context.protocols.require('lending');
    const token = await lending.resolveMarket(input.symbol);
    const amount = parseAmount(input.amount, token);
    const { warnings, ...action } = await lending.createBorrow(amount, context.account);
    return {
      summary: `Borrow ${showAmount(amount)} from ${lending.name}`,
      steps: createSteps(action),
      spends: [],
      receives: [amount],
      recipients: [],
      warnings,
      report: { symbol: token.symbol, amount: formatTokenAmount(amount.amountBaseUnits, token.decimals) },
    };
  },
});
