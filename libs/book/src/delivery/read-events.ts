import type { ClaimedDatabase, Queryable } from '../database/database.js';
import type { OutgoingEvent } from '../events/outgoing-event.js';
import type { BookWriter } from '../posting/book-writer.js';

export interface NumberedEvent {
  /** Its place in the order of all events; numbers may be missing. */
  readonly number: number;
  readonly event: OutgoingEvent;
}

interface Row {
  number: number;
  content: string;
}

/** The events after this number, in their order. */
export async function readOutgoingEvents(within: Queryable, after: number, limit: number): Promise<NumberedEvent[]> {
  const rows = await within.query<Row>(
    'SELECT number, content FROM payment_events WHERE number > $1 ORDER BY number LIMIT $2',
    [after, limit],
  );
  return rows.map(({ number, content }) => ({ number, event: JSON.parse(content) as OutgoingEvent }));
}

/** The numbers of the oldest and the newest event that are kept; 0 without any. */
export async function readEventRange(within: Queryable): Promise<{ oldest: number; newest: number }> {
  const [row] = await within.query<{ oldest: number | null; newest: number | null }>(
    'SELECT min(number) AS oldest, max(number) AS newest FROM payment_events',
  );
  return { oldest: row?.oldest ?? 0, newest: row?.newest ?? 0 };
}

/**
 * The number of the newest event; where all were removed, of the last one that there was. Read between two transactions
 * that write, so that no event has a number already and cannot be read yet.
 */
export async function readNewestNumber(database: ClaimedDatabase): Promise<number> {
  const [row] = await database.transaction((within) =>
    within.query<{ newest: number | null }>(
      `SELECT coalesce(max(number), pg_sequence_last_value(pg_get_serial_sequence('payment_events', 'number')::regclass))
        AS newest FROM payment_events`,
    ),
  );
  return row?.newest ?? 0;
}

/** Null for an event that the book does not have, or no longer. */
export async function findEventNumber(within: Queryable, id: string): Promise<number | null> {
  const [row] = await within.query<{ number: number }>('SELECT number FROM payment_events WHERE id = $1', [id]);
  return row?.number ?? null;
}

/** The number before the events of the last milliseconds. */
export async function findNumberBefore(within: Queryable, lastMs: number): Promise<number> {
  const [row] = await within.query<{ number: number | null }>(
    `SELECT max(number) AS number FROM payment_events WHERE at < now() - $1 * interval '1 millisecond'`,
    [lastMs],
  );
  return row?.number ?? 0;
}

/** The last event that a consumer has taken; one that is new starts with the next event. */
export async function readEventPosition(writer: BookWriter, consumer: string): Promise<number> {
  const [row] = await writer.write((within) =>
    within.query<{ number: number }>(
      `INSERT INTO event_positions (consumer, number)
        SELECT $1, coalesce(max(number), 0) FROM payment_events
        ON CONFLICT (consumer) DO UPDATE SET consumer = excluded.consumer RETURNING number`,
      [consumer],
    ),
  );
  return row?.number ?? 0;
}

export async function storeEventPosition(writer: BookWriter, consumer: string, number: number): Promise<void> {
  await writer.write((within) =>
    within.query('UPDATE event_positions SET number = $2 WHERE consumer = $1', [consumer, number]),
  );
}

/**
 * Removes the oldest events above this number.
 * @param upTo the number of the last event that need not be kept for the webhook targets
 */
export async function trimOutgoingEvents(writer: BookWriter, kept: number, upTo: number): Promise<void> {
  await writer.write((within) =>
    within.query(
      // By their numbers, which costs nothing; only where many were skipped are the events before counted.
      `WITH newest AS (SELECT max(number) AS number FROM payment_events),
        near AS (SELECT min(number) AS first FROM payment_events WHERE number > (SELECT number FROM newest) - $1)
      DELETE FROM payment_events WHERE number <= (
          SELECT number FROM payment_events WHERE number < (SELECT first FROM near) ORDER BY number DESC
            OFFSET (SELECT $1 - (newest.number - first + 1) FROM newest, near) LIMIT 1)
        AND number <= $2`,
      [kept, upTo],
    ),
  );
}
