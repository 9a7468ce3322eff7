import type { Queryable } from '../database/database.js';

/** An event that the database refuses for good. It is kept, and not booked. */
export interface RefusedEvent {
  readonly stream: string;
  readonly id: string;
  readonly type: string;
  /** Empty where the event is not about one payment. */
  readonly payment: string;
  readonly reason: string;
}

/** How many events are kept and not booked: of a later release, and refused. */
export async function countUnapplied(within: Queryable): Promise<{ unread: number; refused: number }> {
  const [row] = await within.query<{ unread: number; refused: number }>(
    'SELECT count(*) - count(refused) AS unread, count(refused) AS refused FROM events WHERE NOT applied',
  );
  return row ?? { unread: 0, refused: 0 };
}

/** Whether an event that is not booked names the payment or, in any of its fields, the transaction of it. */
export async function hasUnapplied(within: Queryable, payment: string, transaction: string | null): Promise<boolean> {
  const [row] = await within.query<{ found: boolean }>(
    `SELECT EXISTS (SELECT FROM events WHERE NOT applied
      AND (payment = $1 OR names @> jsonb_build_array(lower($2::text)))) AS found`,
    [payment, transaction],
  );
  return row?.found === true;
}

/** Oldest first. */
export function listRefusedEvents(within: Queryable, limit: number): Promise<RefusedEvent[]> {
  return within.query<RefusedEvent>(
    `SELECT stream, id, type, payment, refused AS reason FROM events
      WHERE NOT applied AND refused IS NOT NULL ORDER BY at, stream, id LIMIT $1`,
    [limit],
  );
}
