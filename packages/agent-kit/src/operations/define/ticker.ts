import { z } from 'zod';

import type { Token } from '../../types/token.js';

/**
 * A token as read operations show it. `isListed` false: the ticker comes from the contract itself, and may be false.
 */
export const tickerSchema = z.object({
  ticker: z.string(),
  address: z.string(),
  decimals: z.number().int(),
  isListed: z.boolean().describe('Whether the ticker comes from the token list and not from the contract itself'),
});

export function describeTicker({ symbol, address, decimals, isListed }: Token): z.output<typeof tickerSchema> {
  return { ticker: symbol, address, decimals, isListed };
}
