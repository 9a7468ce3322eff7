import type { Queryable } from '../database/database.js';
import type { ChainScope } from './chain-scope.js';

const NEWEST_SALES = 1_000;
/** A transfer of less than this part of the cheapest price is dust. */
const PART = 10n;

/** The least unclaimed transfer that is no dust, in base units: a tenth of the cheapest price of the newest sales; 0 without any. */
export async function readLeastUnclaimed(within: Queryable, { chainId, asset }: ChainScope): Promise<bigint> {
  const [row] = await within.query<{ price: string | null }>(
    `SELECT min(price)::text AS price FROM (
        SELECT (reported #>> '{answered,price}')::numeric AS price FROM payments
          WHERE state = 'answered' AND NOT for_other AND chain_id = $1 AND asset = $2
          ORDER BY at DESC, id DESC LIMIT ${NEWEST_SALES}) AS newest WHERE price > 0`,
    [chainId, asset],
  );
  return BigInt(row?.price ?? '0') / PART;
}
