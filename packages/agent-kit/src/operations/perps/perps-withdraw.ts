import { formatTokenAmount } from '@tollgate/protocol';

import { createSteps } from '../../plan/create-steps.js';
import { parseAmount } from '../../tokens/parse-amount.js';
import { showAmount } from '../../tokens/show-token.js';
import { defineWrite } from '../define/operation.js';
import { WRITE_OPERATIONS } from '../define/write-operations.js';

export const perpsWithdraw = defineWrite({
  name: 'perpsWithdraw',
  ...WRITE_OPERATIONS.perpsWithdraw,
  async plan(input, context) {
    const perps = context.protocols.require('perps');
    const amount = parseAmount(input.amount, await perps.readMarginToken());
    return {
      summary: `Withdraw ${showAmount(amount)} of margin from ${perps.name}`,
      steps: createSteps(await perps.createWithdraw(amount, context.account)),
      spends: [],
      receives: [amount],
      recipients: [],
      report: {
        amount: formatTokenAmount(amount.amountBaseUnits, amount.token.decimals),
        marginToken: amount.token.symbol,
      },
    };
  },
});
