import { chainBookings, type Booking, type ChainEnd, type NewBooking } from '../bookings/booking.js';
import type { Queryable } from '../database/database.js';

/** Adds entries, and what they change of the balances. */
const STORE_ENTRIES = `WITH added AS (
    INSERT INTO entries (id, booking, account, asset, amount)
      SELECT id, booking, account, asset, amount FROM jsonb_to_recordset($1::jsonb)
        AS e(id bigint, booking bigint, account text, asset text, amount numeric)
      RETURNING account, asset, amount)
  MERGE INTO balances USING (
      SELECT account, asset, sum(amount) AS amount FROM added GROUP BY account, asset HAVING sum(amount) <> 0) AS changed
    ON balances.account = changed.account AND balances.asset = changed.asset
    WHEN MATCHED AND balances.amount + changed.amount = 0 THEN DELETE
    WHEN MATCHED THEN UPDATE SET amount = balances.amount + changed.amount
    WHEN NOT MATCHED THEN INSERT (account, asset, amount) VALUES (changed.account, changed.asset, changed.amount)`;

/** Appends bookings to the chain, with their entries. */
export async function storeBookings(within: Queryable, added: readonly NewBooking[], nowMs: number): Promise<void> {
  if (added.length === 0) return;
  const [last] = await within.query<ChainEnd & { booked_at: Date | null }>(
    `SELECT last_booking AS booking, last_entry AS entry, bookkeeper.chain_hash AS hash, booked_at
      FROM bookkeeper LEFT JOIN bookings ON bookings.id = last_booking`,
  );
  if (last === undefined) throw new Error('The book has no row of its bookkeeper: its tables are damaged.');
  // Never earlier than the booking before it, even where the clock was set back: a closing covers one row of bookings.
  const { bookings, end } = chainBookings(added, last, Math.max(nowMs, last.booked_at?.getTime() ?? 0));
  await within.query(
    `INSERT INTO bookings (id, content, kind, payment, booked_at, content_hash, chain_hash)
      SELECT id, content, kind, payment, booked_at, content_hash, chain_hash FROM jsonb_to_recordset($1::jsonb) AS b(
        id bigint, content text, kind text, payment text, booked_at timestamptz, content_hash text, chain_hash text)`,
    [JSON.stringify(bookings.map(toRow))],
  );
  const entries = bookings.flatMap(({ id, firstEntry, lines }) =>
    lines.map((line, index) => ({ id: firstEntry + index, booking: id, ...line })),
  );
  await within.query(STORE_ENTRIES, [JSON.stringify(entries)]);
  await within.query('UPDATE bookkeeper SET last_booking = $1, last_entry = $2, chain_hash = $3', [
    ...[end.booking, end.entry, end.hash],
  ]);
}

function toRow({ id, content, kind, payment, bookedAtMs, contentHash, chainHash }: Booking) {
  const booked = { booked_at: new Date(bookedAtMs), content_hash: contentHash, chain_hash: chainHash };
  return { id, content, kind, payment, ...booked };
}
