import { formatTokenAmount } from '@tollgate/protocol';
import { z } from 'zod';

import { createSteps } from '../../plan/create-steps.js';
import { parseAmount } from '../../tokens/parse-amount.js';
import { showAmount } from '../../tokens/show-token.js';
import { amountSchema } from '../define/input-schemas.js';
import { defineWrite } from '../define/operation.js';
import { lendingSymbolSchema } from './lending-symbol.js';

export const borrowLending = defineWrite({
  name: 'borrowLending',
  title: 'Borrow',
  description:
    'Borrows an amount of a token against what the account has supplied to lending. Supplied tokens become collateral if the loan needs them.',
  input: z.object({ symbol: lendingSymbolSchema, amount: amountSchema }),
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
