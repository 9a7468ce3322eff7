import type { ClosingContent, SignedClosing } from '../closing/closing.js';
import type { Queryable } from '../database/database.js';

/** The closings, newest first. */
export async function readClosings(within: Queryable, limit: number): Promise<SignedClosing[]> {
  const rows = await within.query<Omit<SignedClosing, 'content'> & { content: string }>(
    'SELECT content, hash, signer, signature FROM closings ORDER BY number DESC LIMIT $1',
    [limit],
  );
  return rows.map(({ content, ...row }) => ({ ...row, content: JSON.parse(content) as ClosingContent }));
}

/** What is closed next. */
export interface OpenBookings {
  /** When the first booking without a closing was made; null without one. */
  readonly firstAt: Date | null;
  /** When the last booking was made; null without one. */
  readonly lastAt: Date | null;
}

export async function readOpenBookings(within: Queryable): Promise<OpenBookings> {
  const [row] = await within.query<OpenBookings>(
    `SELECT
      (SELECT booked_at FROM bookings WHERE id = last_booking) AS "lastAt",
      (SELECT booked_at FROM bookings
        WHERE id = 1 + coalesce((SELECT last_booking FROM closings ORDER BY number DESC LIMIT 1), 0)) AS "firstAt"
      FROM bookkeeper`,
  );
  return row ?? { firstAt: null, lastAt: null };
}
