import { formatTokenAmount } from '@tollgate/protocol';
import { z } from 'zod';

import { parseAmount } from '../../tokens/parse-amount.js';
import { amountSchema } from '../define/input-schemas.js';
import { defineRead } from '../define/operation.js';

export const getStakeQuote = defineRead({
  name: 'getStakeQuote',
  title: 'Quote a stake',
  description: 'How much of the receipt token a stake of the native token brings now, and the minimum stake.',
  input: z.object({ amount: amountSchema }),
  output: z.object({
    amount: z.string(),
    receives: z.string().describe('Decimal amount of the receipt token'),
    stakedToken: z.string(),
    minimumAmount: z.string().describe('Minimum stake'),
  }),
  async read(input, { protocols, tokens: { native } }) {
    const staking = protocols.require('staking');
    const { amountBaseUnits: amountWei } = parseAmount(input.amount, native);
    const [quote, minimumWei] = await Promise.all([staking.quoteStake(amountWei), staking.readMinimumStakeWei()]);
    return {
      amount: formatTokenAmount(amountWei, native.decimals),
      receives: formatTokenAmount(quote.amountBaseUnits, quote.token.decimals),
      stakedToken: quote.token.symbol,
      minimumAmount: formatTokenAmount(minimumWei, native.decimals),
    };
  },
});
