import { z } from 'zod';

import type { Queryable } from '../database/database.js';

export const balance = z.object({
  account: z.string(),
  asset: z.string(),
  amount: z.string().describe('Base units; a debit is positive, a credit negative.'),
});
export type Balance = z.output<typeof balance>;

/** The sum of the entries of each account and asset, by name, where it is not zero. They sum to zero in each asset. */
export function readBalances(within: Queryable): Promise<Balance[]> {
  return within.query<Balance>('SELECT account, asset, amount::text FROM balances ORDER BY account, asset');
}
