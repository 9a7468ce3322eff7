import type { Queryable } from '../database/database.js';

export interface Balance {
  readonly account: string;
  readonly asset: string;
  /** Base units; a debit is positive, a credit negative. */
  readonly amount: string;
}

/** The sum of the entries of each account and asset, by name. They sum to zero in each asset. */
export function readBalances(within: Queryable): Promise<Balance[]> {
  return within.query<Balance>(
    `SELECT account, asset, sum(amount)::text AS amount FROM entries GROUP BY account, asset
      HAVING sum(amount) <> 0 ORDER BY account, asset`,
  );
}
