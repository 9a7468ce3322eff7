import type { AcceptedToken } from '../bookings/describe-payment.js';
import type { Queryable } from '../database/database.js';

const PREFIX = 'dust:';

/** The unclaimed transfers of an asset by one payer to one account in one transaction that are too small to be worth a payment each. */
export function nameDust(
  { chainId, asset, recipient }: AcceptedToken,
  { transaction, payer }: { readonly transaction: string; readonly payer: string },
): string {
  return `${PREFIX}${chainId}:${transaction}:${payer}:${asset}:${recipient}`;
}

export const isDust = (payment: string): boolean => payment.startsWith(PREFIX);

/** What the transfers that are booked as this dust sum to, in base units: less once one of them is presented. */
export async function sumDust(within: Queryable, dust: string): Promise<string> {
  const [, chainId = '', transaction = ''] = dust.split(':');
  const [row] = await within.query<{ amount: string }>(
    `SELECT coalesce(sum(amount), 0)::text AS amount FROM chain_transfers
      WHERE chain_id = $1 AND transaction = $2 AND payment = $3`,
    [Number(chainId), transaction, dust],
  );
  return row?.amount ?? '0';
}
