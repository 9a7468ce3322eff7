import { formatTokenAmount } from '@tollgate/protocol';

import { createSteps } from '../../plan/create-steps.js';
import { assertBalance } from '../../tokens/assert-balance.js';
import { parseAmount } from '../../tokens/parse-amount.js';
import { showAmount } from '../../tokens/show-token.js';
import { defineWrite } from '../define/operation.js';
import { WRITE_OPERATIONS } from '../define/write-operations.js';

export const repayLending = defineWrite({
  name: 'repayLending',
  ...WRITE_OPERATIONS.repayLending,
  async plan(input, context) {
    const lending = context.protocols.require('lending');
    const token = await lending.resolveMarket(input.symbol);
    const wanted = input.amount === 'MAX' ? input.amount : parseAmount(input.amount, token).amountBaseUnits;
    const { atLeast, atMost, warnings, ...action } = await lending.createRepay(token, wanted, context.account);
    await assertBalance(context, atLeast);
    const what = wanted === 'MAX' ? `the whole debt of ${showAmount(atLeast)}` : showAmount(atLeast);
    return {
      summary: `Repay ${what} to ${lending.name}`,
      steps: createSteps(action),
      spends: [atMost],
      receives: [],
      recipients: [],
      warnings,
      report: { symbol: token.symbol, amount: formatTokenAmount(atLeast.amountBaseUnits, token.decimals) },
    };
  },
});
