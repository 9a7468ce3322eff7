import { formatTokenAmount } from '@tollgate/protocol';

import { createSteps } from '../../plan/create-steps.js';
import { assertBalance } from '../../tokens/assert-balance.js';
import { parseAmount } from '../../tokens/parse-amount.js';
import { showAmount } from '../../tokens/show-token.js';
import { defineWrite } from '../define/operation.js';
import { WRITE_OPERATIONS } from '../define/write-operations.js';

export const unstake = defineWrite({
  name: 'unstake',
  ...WRITE_OPERATIONS.unstake,
  async plan(input, context) {
    const staking = context.protocols.require('staking');
    const amount = parseAmount(input.amount, await staking.readStakedToken());
    await assertBalance(context, amount);
    const [action, { amountWei, unbondingSeconds }] = await Promise.all([
      staking.createUnstake(amount.amountBaseUnits),
      staking.quoteUnstake(amount.amountBaseUnits),
    ]);
    const queued = { token: context.tokens.native, amountBaseUnits: amountWei };
    return {
      summary: `Unstake ${showAmount(amount)}: ${showAmount(queued)} can be claimed after ${unbondingSeconds} seconds`,
      steps: createSteps(action),
      spends: [amount],
      receives: [queued],
      recipients: [],
      report: {
        amount: formatTokenAmount(amount.amountBaseUnits, amount.token.decimals),
        unbondingSeconds: String(unbondingSeconds),
      },
    };
  },
});
