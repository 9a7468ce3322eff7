import { formatTokenAmount } from '@tollgate/protocol';
import { z } from 'zod';

import type { TokenAmount } from '../../tokens/token.js';
import { defineRead } from '../define/operation.js';

const heldSchema = z.object({ symbol: z.string(), tokenAddress: z.string(), amount: z.string() });

export const getLendingPosition = defineRead({
  name: 'getLendingPosition',
  title: 'Read the lending position',
  description:
    'The supplied and borrowed amounts of the account, its remaining borrowing power, and the health of its loans.',
  input: z.object({}),
  output: z.object({
    supplied: z.array(heldSchema.extend({ isCollateral: z.boolean() })),
    borrowed: z.array(heldSchema),
    available: z.string().describe('Remaining borrowing power, in the unit of the protocol’s prices'),
    shortfall: z.string().describe('By how much the debt is too high, in the same unit'),
    health: z
      .string()
      .nullable()
      .describe(
        'Value of the collateral that counts, divided by debt; below 1 the position can be liquidated; null without a debt',
      ),
  }),
  async read(_input, { protocols, account }) {
    const { supplied, borrowed, ...limits } = await protocols.require('lending').readPosition(account);
    return {
      supplied: supplied.map(({ isCollateral, ...amount }) => ({ ...describeHeld(amount), isCollateral })),
      borrowed: borrowed.map(describeHeld),
      ...limits,
    };
  },
});

function describeHeld({ token, amountBaseUnits }: TokenAmount): z.output<typeof heldSchema> {
  return {
    symbol: token.symbol,
    tokenAddress: token.address,
    amount: formatTokenAmount(amountBaseUnits, token.decimals),
  };
}
