import { describePayment, type BookSeller } from '../bookings/describe-payment.js';
import { createPayment, createSalt, type BookedPayment, type PaymentReports } from '../bookings/payment-record.js';
import type { Queryable } from '../database/database.js';

const COLUMNS = {
  ...{ id: 'text', state: 'text', at: 'timestamptz', scheme: 'text', network: 'text', chain_id: 'bigint' },
  ...{ asset: 'text', payer: 'text', recipient: 'text', route: 'text', request_id: 'text', transaction: 'text' },
  ...{ reason: 'text', amount: 'numeric', refunded: 'numeric', reported: 'jsonb', request_salt: 'text' },
};
const NAMES = Object.keys(COLUMNS);
const UPSERT = `INSERT INTO payments (${NAMES.join(', ')})
  SELECT ${NAMES.join(', ')} FROM jsonb_to_recordset($1::jsonb)
    AS p(${Object.entries(COLUMNS)
      .map(([name, type]) => `${name} ${type}`)
      .join(', ')})
  ON CONFLICT (id) DO UPDATE SET ${NAMES.map((name) => `${name} = excluded.${name}`).join(', ')}`;

/** The payments with these ids, by id; one that the book does not know is new. */
export async function loadPayments(within: Queryable, ids: readonly string[]): Promise<Map<string, BookedPayment>> {
  const rows = await within.query<{ id: string; reported: PaymentReports; request_salt: string }>(
    'SELECT id, reported, request_salt FROM payments WHERE id = ANY($1::text[])',
    [ids],
  );
  const known = rows.map(({ id, reported, request_salt: requestSalt }): [string, BookedPayment] => [
    id,
    // A request that follows the removal of an earlier one has a salt of its own.
    { id, reports: reported, requestSalt: requestSalt === '' ? createSalt() : requestSalt },
  ]);
  return new Map([...ids.map((id): [string, BookedPayment] => [id, createPayment(id)]), ...known]);
}

export async function storePayments(
  within: Queryable,
  payments: readonly BookedPayment[],
  seller: BookSeller,
): Promise<void> {
  const rows = payments.map((payment) => {
    const { atMs, chainId, requestId, ...facts } = describePayment(payment, seller);
    return {
      ...facts,
      ...{ id: payment.id, at: new Date(atMs), chain_id: chainId, request_id: requestId },
      ...{ reported: payment.reports, request_salt: payment.requestSalt },
    };
  });
  await within.query(UPSERT, [JSON.stringify(rows)]);
}
