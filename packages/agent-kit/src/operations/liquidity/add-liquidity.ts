import { z } from 'zod';

import { createSteps } from '../../plan/create-steps.js';
import { formatFeeTier } from '../../protocols/uniswap-v3-abi.js';
import { assertBalance } from '../../tokens/assert-balance.js';
import { parseAmount } from '../../tokens/parse-amount.js';
import { showAmount } from '../../tokens/show-token.js';
import { amountSchema, poolFeeSchema, slippageSchema, tokenSchema } from '../define/input-schemas.js';
import { defineWrite } from '../define/operation.js';
import { warnOfUnlisted } from '../define/quote-pair.js';
import { readDeadline } from '../define/read-deadline.js';

export const addLiquidity = defineWrite({
  name: 'addLiquidity',
  title: 'Add liquidity',
  description:
    'Opens a liquidity position over the full price range of a pool of two tokens. The amounts are the maximum of each that ' +
    'may leave the account; the pool takes them in the proportion of its current price.',
  input: z.object({
    tokenA: tokenSchema,
    tokenB: tokenSchema,
    amountA: amountSchema.describe('Maximum amount of tokenA, in whole units'),
    amountB: amountSchema.describe('Maximum amount of tokenB, in whole units'),
    fee: poolFeeSchema,
    slippageBps: slippageSchema,
  }),
  async plan({ fee = null, slippageBps: tolerance, ...input }, context) {
    const [tokenA, tokenB] = await Promise.all([
      context.tokens.resolve(input.tokenA),
      context.tokens.resolve(input.tokenB),
    ]);
    const amounts = [parseAmount(input.amountA, tokenA), parseAmount(input.amountB, tokenB)] as const;
    for (const amount of amounts) await assertBalance(context, amount);
    const slippageBps = tolerance ?? context.slippageBps;
    const { deadlineSeconds, expiresAtMs } = await readDeadline(context.client);
    const action = await context.protocols
      .require('liquidity')
      .createAdd({ amounts, fee, slippageBps, recipient: context.account, deadlineSeconds });
    const [depositA, depositB] = action.deposits;
    return {
      summary: `Add ${showAmount(depositA)} and ${showAmount(depositB)} to their pool with a fee of ${formatFeeTier(action.fee)}`,
      steps: createSteps(action),
      spends: action.deposits,
      receives: [],
      recipients: [],
      fees: [{ label: 'goes in', text: `at least ${action.minimums.map(showAmount).join(' and ')}` }],
      slippageBps,
      warnings: warnOfUnlisted([tokenA, tokenB]),
      expiresAtMs,
    };
  },
});
