import { z } from 'zod';

import { defineRead } from '../define/operation.js';
import { describeTicker, tickerSchema } from '../define/ticker.js';

export const listTokens = defineRead({
  name: 'listTokens',
  title: 'List the tokens',
  description: 'The native token and the chain’s token list: the symbols that can be used instead of addresses.',
  input: z.object({}),
  output: z.object({ tokens: z.array(tickerSchema) }),
  async read(_input, { tokens }) {
    return { tokens: [tokens.native, ...tokens.listed].map(describeTicker) };
  },
});
