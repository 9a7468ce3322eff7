import { z } from 'zod';

/** Identifies a product of the perpetuals exchange. */
export const perpsProductSchema = z.string().min(1).max(64).describe('Symbol of the product, for example "BTC-PERP"');
