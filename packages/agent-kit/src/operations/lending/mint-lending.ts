import { formatTokenAmount } from '@tollgate/protocol';
import { z } from 'zod';

import { createSteps } from '../../plan/create-steps.js';
import { assertBalance } from '../../tokens/assert-balance.js';
import { parseAmount } from '../../tokens/parse-amount.js';
import { showAmount } from '../../tokens/show-token.js';
import { amountSchema } from '../define/input-schemas.js';
import { defineWrite } from '../define/operation.js';
import { lendingSymbolSchema } from './lending-symbol.js';

export const mintLending = defineWrite({
  name: 'mintLending',
  title: 'Supply to lending',
  description: 'Supplies an amount of a token to its lending market, where it earns interest and can back a loan.',
  input: z.object({ symbol: lendingSymbolSchema, amount: amountSchema }),
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
