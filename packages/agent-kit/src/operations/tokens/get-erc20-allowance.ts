import { formatTokenAmount, MAX_UINT256 } from '@tollgate/protocol';
import { getAddress } from 'viem';
import { z } from 'zod';

import { AgentKitError } from '../../agent-kit-error.js';
import { readAllowance } from '../../tokens/read-allowance.js';
import { addressSchema, tokenSchema } from '../define/input-schemas.js';
import { defineRead } from '../define/operation.js';
import { describeTicker, tickerSchema } from '../define/ticker.js';

export const getERC20Allowance = defineRead({
  name: 'getERC20Allowance',
  title: 'Read an allowance',
  description: 'The amount of an ERC-20 token that a spender may take from the account.',
  input: z.object({ token: tokenSchema, spender: addressSchema.describe('Address of the spender') }),
  output: z.object({
    allowance: z.string().describe('Decimal amount in whole units'),
    isUnlimited: z.boolean(),
    spender: z.string(),
    token: tickerSchema,
  }),
  async read(input, context) {
    const token = await context.tokens.resolve(input.token);
    if (token.isNative)
      throw new AgentKitError('INVALID_INPUT', `${token.symbol} is the native token, which has no allowances.`);
    const spender = getAddress(input.spender);
    const allowance = await readAllowance(context, { token, spender });
    return {
      allowance: formatTokenAmount(allowance, token.decimals),
      // Some tokens count an unlimited allowance down, others leave it: either way it is far above any supply.
      isUnlimited: allowance > MAX_UINT256 / 2n,
      spender,
      token: describeTicker(token),
    };
  },
});
