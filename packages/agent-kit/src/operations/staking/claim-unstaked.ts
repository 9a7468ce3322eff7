import { formatTokenAmount } from '@tollgate/protocol';
import { z } from 'zod';

import { createSteps } from '../../plan/create-steps.js';
import { showAmount } from '../../tokens/show-token.js';
import { defineWrite } from '../define/operation.js';

export const claimUnstaked = defineWrite({
  name: 'claimUnstaked',
  title: 'Claim what was unstaked',
  description: 'Claims the native token of everything that was unstaked and has matured.',
  input: z.object({}),
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
