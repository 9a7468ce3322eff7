import { formatTokenAmount } from '@tollgate/protocol';
import { z } from 'zod';

import { formatFeeTier } from '../../protocols/uniswap-v3-abi.js';
import { defineRead } from '../define/operation.js';
import { describeTicker, tickerSchema } from '../define/ticker.js';

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
    const positions = await context.protocols.require('liquidity').readPositions(context.account);
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
