import { formatTokenAmount } from '@tollgate/protocol';

import { createSteps } from '../../plan/create-steps.js';
import { assertBalance } from '../../tokens/assert-balance.js';
import { parseAmount } from '../../tokens/parse-amount.js';
import { showAmount } from '../../tokens/show-token.js';
import { defineWrite } from '../define/operation.js';
import { WRITE_OPERATIONS } from '../define/write-operations.js';

export const perpsDeposit = defineWrite({
  name: 'perpsDeposit',
  ...WRITE_OPERATIONS.perpsDeposit,
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
