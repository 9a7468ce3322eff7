import { z } from 'zod';

/** Names a lending market by what it lends. */
export const lendingSymbolSchema = z
  .string()
  .min(1)
  .max(64)
  .describe('What the market lends: a symbol of the token list, or the address of the token');
