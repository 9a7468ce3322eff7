import { z } from 'zod';

import { tokenSchema } from '../define/input-schemas.js';
import { defineRead } from '../define/operation.js';
import { describeTicker, tickerSchema } from '../define/ticker.js';

export const resolveToken = defineRead({
  name: 'resolveToken',
  title: 'Find a token',
  description:
    'The address and decimals of a token of the chain’s token list, by its symbol; or, for an address, what the contract ' +
    'reports about itself. Never searches the web.',
  input: z.object({ symbol: tokenSchema }),
  output: tickerSchema,
  async read({ symbol }, { tokens }) {
    return describeTicker(await tokens.resolve(symbol));
  },
});
