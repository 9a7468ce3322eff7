import type { NewBooking } from '../bookings/booking.js';
import type { BookSeller } from '../bookings/describe-payment.js';
import { addTransfer, bookAs } from '../bookings/payment-record.js';
import type { Queryable } from '../database/database.js';
import { isDust, sumDust } from './dust.js';
import { OpenPayments } from './open-payments.js';

interface ClaimedTransfer {
  chain_id: number;
  transaction: string;
  log_index: number;
  unclaimed: string;
  payment: string;
}

/**
 * A transfer that was booked as unclaimed has the transaction's name, and may be presented under the name of its
 * authorization or permit later. Takes back what was booked for it, so that each unit is booked once.
 */
export async function replaceUnclaimed(
  within: Queryable,
  presented: readonly string[],
  seller: BookSeller,
): Promise<NewBooking[]> {
  const found = await within.query<ClaimedTransfer>(
    `SELECT transfer.chain_id, transfer.transaction, log_index, unclaimed.id AS unclaimed, expected.id AS payment
      FROM unreconciled_payments expected
        JOIN chain_transfers transfer USING (chain_id, transaction, asset, recipient, amount)
        JOIN payments unclaimed ON unclaimed.id = transfer.payment
      WHERE expected.id = ANY($1::text[]) AND unclaimed.state = 'unclaimed' AND unclaimed.id <> expected.id
        AND expected.payer IN ('', transfer.payer)
      ORDER BY log_index`,
    [presented],
  );
  const pairs: ClaimedTransfer[] = [];
  for (const one of found) {
    const isTaken = pairs.some((other) => other.payment === one.payment || nameLog(other) === nameLog(one));
    if (!isTaken) pairs.push(one);
  }
  if (pairs.length === 0) return [];
  for (const { chain_id: chainId, transaction, log_index: logIndex, payment } of pairs) {
    await within.query(
      'UPDATE chain_transfers SET payment = $4 WHERE chain_id = $1 AND transaction = $2 AND log_index = $3',
      [chainId, transaction, logIndex, payment],
    );
  }
  const nowMs = Date.now();
  const replaced = new Map(pairs.map(({ unclaimed, payment }) => [unclaimed, payment]));
  const payments = await OpenPayments.load(within, [...replaced.keys()], seller);
  const bookings: NewBooking[] = [];
  for (const [unclaimed, payment] of replaced) {
    // Of what was summed, the others stay unclaimed.
    const amount = isDust(unclaimed) ? await sumDust(within, unclaimed) : null;
    const booking = payments.change(unclaimed, (one) => {
      const { transfer } = one.reports;
      return amount === null || transfer === undefined
        ? bookAs(one, payment, nowMs)
        : addTransfer(one, { ...transfer, amount });
    });
    if (booking !== null) bookings.push(booking);
  }
  await payments.store(within);
  await within.query('DELETE FROM unreconciled_payments WHERE id = ANY($1::text[])', [
    pairs.map(({ payment }) => payment),
  ]);
  return bookings;
}

const nameLog = ({ chain_id: chainId, transaction, log_index: logIndex }: ClaimedTransfer): string =>
  `${chainId} ${transaction} ${logIndex}`;
