import { formatTokenAmount } from '@tollgate/protocol';
import { z } from 'zod';

import { createSteps } from '../../plan/create-steps.js';
import { assertBalance } from '../../tokens/assert-balance.js';
import { parseAmount } from '../../tokens/parse-amount.js';
import { showAmount } from '../../tokens/show-token.js';
import { amountSchema } from '../define/input-schemas.js';
import { defineWrite } from '../define/operation.js';

export const unstake = defineWrite({
  name: 'unstake',
  title: 'Unstake',
  description:
    'Queues an amount of the staked receipt token for unstaking. The native token is fixed now and can be claimed with claimUnstaked once it has matured.',
  input: z.object({ amount: amountSchema.describe('Decimal amount of the receipt token') }),
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
