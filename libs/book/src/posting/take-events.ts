import { parseBookEvent, type BookEvent, type UnknownBookEvent } from '@tollgate/book-events';

import type { Queryable } from '../database/database.js';

/** An entry of an outbox stream. */
export interface DeliveredEvent {
  readonly stream: string;
  /** The entry's id in Redis: milliseconds and a counter. */
  readonly id: string;
  /** Names and values in turn, as they were stored. */
  readonly fields: readonly string[];
  readonly event: BookEvent | UnknownBookEvent;
}

/** The payments that an event reports about. */
export function paymentsOf(event: BookEvent): readonly string[] {
  switch (event.type) {
    case 'settled':
      return event.facts.payments.filter(({ amount }) => amount !== null).map(({ payment }) => payment);
    case 'job_transaction':
      return [];
    default:
      return [event.payment];
  }
}

/** Stores the events, and returns those that were not stored before, in their order. */
export async function storeEvents(within: Queryable, delivered: readonly DeliveredEvent[]): Promise<DeliveredEvent[]> {
  const rows = delivered.map(({ stream, id, event, fields }) => ({
    ...{ stream, id, type: event.type },
    payment: event.type === 'unknown' ? '' : event.payment,
    at: new Date(event.type === 'unknown' ? Number.parseInt(id, 10) : event.atMs),
    fields,
    applied: event.type !== 'unknown',
  }));
  const stored = await within.query<{ stream: string; id: string }>(
    `INSERT INTO events (stream, id, type, payment, at, fields, applied)
      SELECT stream, id, type, payment, at, fields, applied FROM jsonb_to_recordset($1::jsonb)
        AS e(stream text, id text, type text, payment text, at timestamptz, fields jsonb, applied boolean)
      ON CONFLICT DO NOTHING RETURNING stream, id`,
    [JSON.stringify(rows)],
  );
  const isNew = new Set(stored.map(({ stream, id }) => `${stream} ${id}`));
  return delivered.filter(({ stream, id }) => isNew.delete(`${stream} ${id}`));
}

/** Events that an earlier release could not read and this one can; they count as applied from now on. */
export async function takeUnread(within: Queryable): Promise<DeliveredEvent[]> {
  const rows = await within.query<{ stream: string; id: string; fields: string[] }>(
    'SELECT stream, id, fields FROM events WHERE NOT applied ORDER BY stream, id',
  );
  const read = rows
    .map((row): DeliveredEvent => ({ ...row, event: parseBookEvent(row.fields) }))
    .filter(({ event }) => event.type !== 'unknown');
  for (const { stream, id, event } of read) {
    const payment = event.type === 'unknown' ? '' : event.payment;
    await within.query('UPDATE events SET applied = true, type = $3, payment = $4 WHERE stream = $1 AND id = $2', [
      ...[stream, id, event.type, payment],
    ]);
  }
  return read;
}
