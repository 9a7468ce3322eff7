import { tokenSchema } from '../define/input-schemas.js';

/** Identifies a lending market by its token. */
export const lendingSymbolSchema = tokenSchema.describe(
  'Token of the market: a symbol of the token list, or the address of the token',
);
