import { parseBookEvent, type BookEvent, type UnknownBookEvent } from '@tollgate/book-events';

import type { Queryable } from '../database/database.js';
import { storePositions } from './stream-positions.js';

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

const COLUMNS =
  'stream text, id text, type text, payment text, at timestamptz, fields jsonb, applied boolean, refused text';
const NAMES = COLUMNS.replaceAll(/ \w+(?=,|$)/g, '');
const CHANGED = ['type', 'payment', 'at', 'applied', 'refused'].map((name) => `${name} = excluded.${name}`).join(', ');

/** An event that is stored and was not applied is stored anew; one that was applied stays as it is. */
const STORE = `INSERT INTO events (${NAMES})
  SELECT DISTINCT ON (stream, id) ${NAMES} FROM jsonb_to_recordset($1::jsonb) AS e(${COLUMNS})
  ON CONFLICT (stream, id) DO UPDATE SET ${CHANGED}
    WHERE NOT events.applied AND (excluded.applied OR excluded.refused IS NOT NULL)
  RETURNING stream, id`;

/** Stores the events, and returns those that were not stored or not applied before, in their order. */
export async function storeEvents(within: Queryable, delivered: readonly DeliveredEvent[]): Promise<DeliveredEvent[]> {
  const rows = delivered.map((one) => ({ ...describe(one), applied: one.event.type !== 'unknown', refused: null }));
  const stored = await within.query<{ stream: string; id: string }>(STORE, [JSON.stringify(rows)]);
  await storePositions(within, delivered);
  const isNew = new Set(stored.map(({ stream, id }) => `${stream} ${id}`));
  return delivered.filter(({ stream, id }) => isNew.delete(`${stream} ${id}`));
}

/** Keeps an event that the database refuses to apply, with the reason. */
export async function setEventAside(within: Queryable, refused: DeliveredEvent, reason: string): Promise<void> {
  const row = describe(refused);
  // The times and names that an event reports may be what is refused.
  const stored = {
    ...row,
    payment: clean(row.payment),
    at: timeOf(refused.id),
    applied: false,
    refused: clean(reason),
  };
  await within.query(STORE, [JSON.stringify([stored])]);
  await storePositions(within, [refused]);
}

/** Events that are kept and not applied, and that this release can read; the refused ones too. */
export async function readUnapplied(within: Queryable): Promise<DeliveredEvent[]> {
  const rows = await within.query<{ stream: string; id: string; fields: string[] }>(
    'SELECT stream, id, fields FROM events WHERE NOT applied ORDER BY stream, id',
  );
  return rows
    .map((row): DeliveredEvent => ({ ...row, event: parseBookEvent(row.fields) }))
    .filter(({ event }) => event.type !== 'unknown');
}

function describe({ stream, id, event, fields }: DeliveredEvent) {
  const payment = event.type === 'unknown' ? '' : event.payment;
  const at = event.type === 'unknown' ? timeOf(id) : new Date(event.atMs);
  return { stream, id, type: event.type, payment, at, fields: fields.map(clean) };
}

/** When Redis took the entry. */
function timeOf(id: string): Date {
  return new Date(Number.parseInt(id, 10));
}

/** PostgreSQL has no text with this character. */
function clean(text: string): string {
  return text.replaceAll('\0', '\uFFFD');
}
