import { createSteps } from '../../plan/create-steps.js';
import { formatFeeTier } from '../../protocols/uniswap-v3-abi.js';
import { assertBalance } from '../../tokens/assert-balance.js';
import { parseAmount } from '../../tokens/parse-amount.js';
import { showAmount } from '../../tokens/show-token.js';
import { defineWrite } from '../define/operation.js';
import { warnOfUnlisted } from '../define/quote-pair.js';
import { readDeadline } from '../define/read-deadline.js';
import { WRITE_OPERATIONS } from '../define/write-operations.js';

export const addLiquidity = defineWrite({
  name: 'addLiquidity',
  ...WRITE_OPERATIONS.addLiquidity,
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
