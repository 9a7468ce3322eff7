import { formatTokenAmount } from '@tollgate/protocol';

import { createSteps } from '../../plan/create-steps.js';
import { parseAmount } from '../../tokens/parse-amount.js';
import { showAmount } from '../../tokens/show-token.js';
import { defineWrite } from '../define/operation.js';
import { WRITE_OPERATIONS } from '../define/write-operations.js';

export const redeemLending = defineWrite({
  name: 'redeemLending',
  ...WRITE_OPERATIONS.redeemLending,
  async plan(input, context) {
    const lending = context.protocols.require('lending');
    const token = await lending.resolveMarket(input.symbol);
    const wanted = input.amount === 'MAX' ? input.amount : parseAmount(input.amount, token).amountBaseUnits;
    const { atLeast, ...action } = await lending.createRedeem(token, wanted, context.account);
    return {
      summary: `Withdraw ${showAmount(atLeast)} from ${lending.name}`,
      steps: createSteps(action),
      spends: [],
      receives: [atLeast],
      recipients: [],
      report: { symbol: token.symbol, amount: formatTokenAmount(atLeast.amountBaseUnits, token.decimals) },
    };
  },
});
