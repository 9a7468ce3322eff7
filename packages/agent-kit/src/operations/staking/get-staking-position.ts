import { formatTokenAmount } from '@tollgate/protocol';
import { z } from 'zod';

import { defineRead } from '../define/operation.js';

export const getStakingPosition = defineRead({
  name: 'getStakingPosition',
  title: 'Read the staking position',
  description: 'The staked amount of the account, its current worth, and the amounts queued for unstaking.',
  input: z.object({}),
  output: z.object({
    staked: z.string().describe('Decimal amount of the receipt token'),
    stakedToken: z.string(),
    worth: z.string().describe('Decimal amount of the native token'),
    queued: z.array(z.object({ ticketId: z.string(), amount: z.string(), claimableAt: z.string() })),
    claimable: z.string().describe('Amount that can be claimed now, in the native token'),
  }),
  async read(_input, { protocols, account, tokens: { native } }) {
    const { staked, worthWei, queued, claimableWei } = await protocols.require('staking').readPosition(account);
    return {
      staked: formatTokenAmount(staked.amountBaseUnits, staked.token.decimals),
      stakedToken: staked.token.symbol,
      worth: formatTokenAmount(worthWei, native.decimals),
      queued: queued.map(({ ticketId, amountWei, claimableAtMs }) => ({
        ticketId,
        amount: formatTokenAmount(amountWei, native.decimals),
        claimableAt: new Date(claimableAtMs).toISOString(),
      })),
      claimable: formatTokenAmount(claimableWei, native.decimals),
    };
  },
});
