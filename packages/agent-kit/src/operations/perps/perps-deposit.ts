import { formatTokenAmount } from '@tollgate/protocol';
import { z } from 'zod';

import { createSteps } from '../../plan/create-steps.js';
import { assertBalance } from '../../tokens/assert-balance.js';
import { parseAmount } from '../../tokens/parse-amount.js';
import { showAmount } from '../../tokens/show-token.js';
import { amountSchema } from '../define/input-schemas.js';
import { defineWrite } from '../define/operation.js';

export const perpsDeposit = defineWrite({
  name: 'perpsDeposit',
  title: 'Deposit margin',
  description: 'Deposits an amount of the margin token of the perpetuals exchange into the account’s margin.',
  input: z.object({ amount: amountSchema }),
  async plan(input, context) {
    const perps = context.protocols.require('perps');
    const amount = parseAmount(input.amount, await perps.readMarginToken());
    await assertBalance(context, amount);
    return {
      summary: `Deposit ${showAmount(amount)} as margin with ${perps.name}`,
      steps: createSteps(await perps.createDeposit(amount)),
      spends: [amount],
      receives: [],
      recipients: [],
      report: {
        amount: formatTokenAmount(amount.amountBaseUnits, amount.token.decimals),
        marginToken: amount.token.symbol,
      },
    };
  },
});
