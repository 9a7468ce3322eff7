import { z } from 'zod';

/**
 * All numbers as decimal text: prices in the quote asset, quantities in the base asset, fees and weights as fractions
 * of 1.
 */
export const productSchema = z.object({
  id: z.string(),
  symbol: z.string(),
  baseAsset: z.string(),
  quoteAsset: z.string(),
  active: z.boolean(),
  markPrice: z.string(),
  increment: z.string(),
  minQuantity: z.string(),
  maxQuantity: z.string(),
  makerFee: z.string(),
  takerFee: z.string(),
  initialWeight: z.string(),
  maintenanceWeight: z.string(),
});

/**
 * Amounts in whole units of the margin token. `unrealizedPnl` is negative for a loss; `liquidationPrice` is null if no
 * price can liquidate the position.
 */
export const positionSchema = z.object({
  product: z.string(),
  side: z.enum(['long', 'short']),
  quantity: z.string(),
  entryPrice: z.string(),
  margin: z.string(),
  unrealizedPnl: z.string(),
  liquidationPrice: z.string().nullable(),
});
