import { z } from 'zod';

import type { Token } from '../tokens/token.js';

/** A token as reads show it. `isListed` false: the ticker is what the contract says of itself, and may be a lie. */
export const tickerSchema = z.object({
  ticker: z.string(),
  address: z.string(),
  decimals: z.number().int(),
  isListed: z.boolean().describe('Whether the ticker comes from the token list and not from the contract itself'),
});

export function describeTicker({ symbol, address, decimals, isListed }: Token): z.output<typeof tickerSchema> {
  return { ticker: symbol, address, decimals, isListed };
}
