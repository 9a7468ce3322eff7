import { z } from 'zod';

import type { BookWriter } from '../posting/book-writer.js';

export const removedRequests = z.object({
  payments: z.int().describe('Payments whose request data was removed.'),
  events: z.int().describe('Entries of the outbox that were removed.'),
  outgoing: z.int().describe('Events for other programs that were removed.'),
});
export type RemovedRequests = z.output<typeof removedRequests>;

/** In one transaction, so that what is booked meanwhile never waits for long. */
const BATCH = 1_000;
/** What an answer's event says of the request. Accounts, amounts and the hash of the answer stay. */
const OF_REQUEST = [
  ...['{answered,requestId}', '{answered,requestHash}', '{answered,method}', '{answered,bytes}'],
  ...['{answered,upstreamMs}', '{answered,timeline}', '{answered,path}', '{answered,query}'],
  ...['{released,sale,requestId}', '{released,sale,method}', '{released,timeline}'],
  ...['{released,sale,path}', '{released,sale,query}'],
];
const WITHOUT_REQUEST = OF_REQUEST.reduce((reported, path) => `(${reported} #- '${path}')`, 'reported');

/**
 * Removes who asked for what, of payments to which nothing has happened since: the request's id, method, path, query, hash and times,
 * the salt of its hash in the bookings, and the events as they came. Bookings, entries and closings are not touched, so
 * the book verifies as before, and a payment is proved without its request.
 * @throws DeposedError, BookUnavailableError; what was removed until then stays removed
 */
export async function removeRequests(writer: BookWriter, beforeMs: number): Promise<RemovedRequests> {
  const before = new Date(beforeMs).toISOString();
  const removeAll = async (sql: string): Promise<number> => {
    let removed = 0;
    for (;;) {
      const rows = await writer.write((within) => within.query(sql, [before, BATCH]));
      removed += rows.length;
      if (rows.length < BATCH) return removed;
    }
  };
  const payments = await removeAll(
    `UPDATE payments SET request_id = NULL, path = NULL, query = NULL, request_salt = '', reported = ${WITHOUT_REQUEST}
      WHERE id IN (SELECT id FROM payments WHERE at < $1 AND request_salt <> '' ORDER BY at LIMIT $2) RETURNING id`,
  );
  // An event that no release has read yet is not booked.
  const events = await removeAll(
    `DELETE FROM events WHERE (stream, id) IN (SELECT stream, id FROM events WHERE at < $1 AND applied ORDER BY at LIMIT $2)
      RETURNING id`,
  );
  const outgoing = await removeAll(
    `DELETE FROM payment_events WHERE number IN (SELECT number FROM payment_events WHERE at < $1 ORDER BY at LIMIT $2)
      RETURNING number`,
  );
  return { payments, events, outgoing };
}

/**
 * The time so many months earlier, UTC, in milliseconds since 1970. A day that the earlier month does not have is its last
 * one: a month before 31 March is 28 or 29 February.
 */
export function monthsBefore(nowMs: number, months: number): number {
  const at = new Date(nowMs);
  const day = at.getUTCDate();
  at.setUTCMonth(at.getUTCMonth() - months);
  // It went over into the next month.
  if (at.getUTCDate() !== day) at.setUTCDate(0);
  return at.getTime();
}
