import { formatTokenAmount } from '@tollgate/protocol';
import { z } from 'zod';

import { readDeadline } from '../chain/read-next-block-time.js';
import { formatFeeTier } from '../protocols/uniswap-v3-pools.js';
import { assertBalance } from '../tokens/balance.js';
import { createSteps } from '../tokens/create-steps.js';
import { parseAmount } from '../tokens/parse-amount.js';
import { describeTicker, showAmount, tickerSchema } from '../tokens/show-token.js';
import { defineListed, defineRead, MOVES_NOTHING } from './define/operation.js';
import { warnOfUnlisted } from './swap.js';

export const addLiquidity = defineListed('addLiquidity', async (input, context) => {
  const { fee = null, slippageBps = context.slippageBps } = input;
  const [tokenA, tokenB] = await Promise.all([
    context.tokens.resolve(input.tokenA),
    context.tokens.resolve(input.tokenB),
  ]);
  const amounts = [parseAmount(input.amountA, tokenA), parseAmount(input.amountB, tokenB)] as const;
  for (const amount of amounts) await assertBalance(context, amount);
  const { deadlineSeconds, expiresAtMs } = await readDeadline(context.client);
  const protocol = await context.protocols.require('liquidity');
  const action = await protocol.createAdd({ amounts, fee, slippageBps, recipient: context.account, deadlineSeconds });
  const [depositA, depositB] = action.deposits;
  return {
    summary: `Add ${showAmount(depositA)} and ${showAmount(depositB)} to their pool with a fee of ${formatFeeTier(action.fee)}`,
    steps: createSteps(action),
    ...MOVES_NOTHING,
    spends: action.deposits,
    deposit: { atLeast: action.minimums, fee: action.fee },
    fees: [{ label: 'goes in', text: `at least ${action.minimums.map(showAmount).join(' and ')}` }],
    slippageBps,
    warnings: [...action.warnings, ...warnOfUnlisted([tokenA, tokenB])],
    expiresAtMs,
  };
});

export const removeLiquidity = defineListed('removeLiquidity', async (input, context) => {
  const { positionId, percent = 100, slippageBps = context.slippageBps } = input;
  const { deadlineSeconds, expiresAtMs } = await readDeadline(context.client);
  const protocol = await context.protocols.require('liquidity');
  const action = await protocol.createRemove({
    positionId: BigInt(positionId),
    percent,
    slippageBps,
    recipient: context.account,
    deadlineSeconds,
  });
  const [minimumA, minimumB] = action.minimums;
  return {
    summary: `Remove ${percent} % of position ${BigInt(positionId)} for at least ${showAmount(minimumA)} and ${showAmount(minimumB)}`,
    steps: createSteps(action),
    ...MOVES_NOTHING,
    receives: action.minimums,
    slippageBps,
    warnings: warnOfUnlisted(action.minimums.map(({ token }) => token)),
    expiresAtMs,
  };
});

const sideSchema = z.object({
  token: tickerSchema,
  amount: z.string().describe('Amount that the position holds now, in whole units'),
  fees: z.string().describe('Fees earned and not collected, in whole units'),
});

export const getLiquidityPositions = defineRead({
  name: 'getLiquidityPositions',
  title: 'List liquidity positions',
  description: 'The account’s liquidity positions, newest first: what each holds now, and the fees it earned.',
  input: z.object({}),
  output: z.object({
    positions: z.array(z.object({ positionId: z.string(), fee: z.string(), tokenA: sideSchema, tokenB: sideSchema })),
  }),
  async read(_input, context) {
    const protocol = await context.protocols.require('liquidity');
    const positions = await protocol.readPositions(context.account);
    return {
      positions: positions.map(({ positionId, fee, tokenA, tokenB, amountA, amountB, owedA, owedB }) => ({
        positionId,
        fee: formatFeeTier(fee),
        tokenA: describeSide(tokenA, amountA, owedA),
        tokenB: describeSide(tokenB, amountB, owedB),
      })),
    };
  },
});

function describeSide(
  token: Parameters<typeof describeTicker>[0],
  amount: bigint,
  fees: bigint,
): z.output<typeof sideSchema> {
  return {
    token: describeTicker(token),
    amount: formatTokenAmount(amount, token.decimals),
    fees: formatTokenAmount(fees, token.decimals),
  };
}
