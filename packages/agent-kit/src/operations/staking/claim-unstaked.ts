import { formatTokenAmount } from '@tollgate/protocol';

import { createSteps } from '../../plan/create-steps.js';
import { showAmount } from '../../tokens/show-token.js';
import { defineWrite } from '../define/operation.js';
import { WRITE_OPERATIONS } from '../define/write-operations.js';

export const claimUnstaked = defineWrite({
  name: 'claimUnstaked',
  ...WRITE_OPERATIONS.claimUnstaked,
  async plan(_input, context) {
    const staking = context.protocols.require('staking');
    const { amountWei, ...action } = await staking.createClaim(context.account);
    const amount = { token: context.tokens.native, amountBaseUnits: amountWei };
    return {
      summary: `Claim ${showAmount(amount)}`,
      steps: createSteps(action),
      spends: [],
      receives: [amount],
      recipients: [],
      report: { amount: formatTokenAmount(amountWei, amount.token.decimals) },
    };
  },
});
