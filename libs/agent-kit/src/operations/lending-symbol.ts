import { z } from 'zod';

/** Identifies a lending market by its token. */
export const lendingSymbolSchema = z
  .string()
  .min(1)
  .max(64)
  .describe('Token of the market: a symbol of the token list, or the address of the token');
