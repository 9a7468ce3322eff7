import type { PaymentReports } from '../bookings/payment-record.js';
import type { Queryable } from '../database/database.js';
import type { ClosingContent, SignedClosing } from './closing.js';
import { hashBookings } from './hash-bookings.js';
import type { MerkleStep } from './merkle.js';
import type { BookingProof, BookProof } from './payment-proof.js';

/** Why there is no proof: the book does not know the payment, or its bookings are not closed yet. */
export type NoProof = 'unknown' | 'not_closed';

/** Proves what was booked for a payment, from the signed closings of its bookings. */
export async function provePayment(within: Queryable, payment: string): Promise<BookProof | NoProof> {
  const [known] = await within.query<{ salt: string; reported: PaymentReports }>(
    'SELECT request_salt AS salt, reported FROM payments WHERE id = $1',
    [payment],
  );
  const bookings = await within.query<{ id: number; content: string }>(
    'SELECT id, content FROM bookings WHERE payment = $1 ORDER BY id',
    [payment],
  );
  if (known === undefined || bookings.length === 0) return 'unknown';
  const paths = new Map<number, MerkleStep[]>(bookings.map(({ id }) => [id, []]));
  const proofs: BookingProof[] = [];
  const closings = new Map<string, ClosingContent>();
  for (const { id, content } of bookings) {
    const closing = await findClosing(within, id);
    if (closing === null) return 'not_closed';
    proofs.push({ content, path: paths.get(id) ?? [], closing });
    closings.set(closing.hash, closing.content);
  }
  for (const { firstBooking: first, lastBooking: last } of closings.values()) {
    await hashBookings(within, { first, last }, { paths });
  }
  const { answered } = known.reported;
  const hash = answered?.requestHash;
  const request = hash === undefined ? null : { salt: known.salt, hash };
  return { version: 1, payment, request, bookings: proofs };
}

async function findClosing(within: Queryable, booking: number): Promise<SignedClosing | null> {
  const [row] = await within.query<{ content: string; hash: string; signer: string; signature: string }>(
    'SELECT content, hash, signer, signature FROM closings WHERE $1 BETWEEN first_booking AND last_booking',
    [booking],
  );
  return row === undefined ? null : { ...row, content: JSON.parse(row.content) as ClosingContent };
}
