import { formatTokenAmount } from '@tollgate/protocol';
import { z } from 'zod';

import { readBalance } from '../../tokens/read-balance.js';
import { NATIVE_TOKEN } from '../../tokens/token.js';
import { tokenSchema } from '../define/input-schemas.js';
import { defineRead } from '../define/operation.js';
import { describeTicker, tickerSchema } from '../define/ticker.js';

export const getERC20Balance = defineRead({
  name: 'getERC20Balance',
  title: 'Read a balance',
  description: 'The account’s balance of the native token, or of an ERC-20 token, exact to the last base unit.',
  input: z.object({ contractAddress: tokenSchema.optional().describe('The token; if omitted, the native token') }),
  output: z.object({
    status: z.literal('success'),
    balance: z.string().describe('Decimal amount in whole units'),
    token: tickerSchema,
  }),
  async read({ contractAddress = NATIVE_TOKEN }, context) {
    const token = await context.tokens.resolve(contractAddress);
    const balance = formatTokenAmount(await readBalance(context, token), token.decimals);
    return { status: 'success', balance, token: describeTicker(token) };
  },
});
