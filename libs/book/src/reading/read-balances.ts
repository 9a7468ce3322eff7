import type { Queryable } from '../database/database.js';

export interface Balance {
  readonly account: string;
  readonly asset: string;
  /** Base units; a debit is positive, a credit negative. */
  readonly amount: string;
}

/** The sum of the entries of each account and asset, by name, where it is not zero. They sum to zero in each asset. */
export function readBalances(within: Queryable): Promise<Balance[]> {
  return within.query<Balance>('SELECT account, asset, amount::text FROM balances ORDER BY account, asset');
}
