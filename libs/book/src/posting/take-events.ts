import { believedTime, parseBookEvent, type BookEvent, type UnknownBookEvent } from '@tollgate/book-events';

import type { Queryable } from '../database/database.js';
import { storePositions, type StreamPosition } from './stream-positions.js';

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
    case 'acted':
      return [];
    default:
      return [event.payment];
  }
}

const COLUMNS =
  'stream text, id text, type text, payment text, at timestamptz, fields jsonb, names jsonb, applied boolean, refused text';
const NAMES = COLUMNS.replaceAll(/ \w+(?=,|$)/g, '');
const CHANGED = ['type', 'payment', 'at', 'names', 'applied', 'refused']
  .map((name) => `${name} = excluded.${name}`)
  .join(', ');

/** An event that is stored and was not applied is stored anew; one that was applied stays as it is. */
const STORE = `INSERT INTO events (${NAMES})
  SELECT DISTINCT ON (stream, id) ${NAMES} FROM jsonb_to_recordset($1::jsonb) AS e(${COLUMNS})
  ON CONFLICT (stream, id) DO UPDATE SET ${CHANGED}
    WHERE NOT events.applied AND (excluded.applied OR excluded.refused IS NOT NULL)
  RETURNING stream, id`;

/**
 * Stores the events, and returns those that were not stored or not applied before, in their order.
 * @param whyRefused why an event is kept and not applied; null: it is applied
 */
export async function storeEvents(
  within: Queryable,
  delivered: readonly DeliveredEvent[],
  whyRefused: (event: DeliveredEvent) => string | null,
): Promise<DeliveredEvent[]> {
  const rows = delivered.map((one) => describe(one, whyRefused(one)));
  const stored = await within.query<{ stream: string; id: string }>(STORE, [JSON.stringify(rows)]);
  await storePositions(within, delivered);
  const isNew = new Set(stored.map(({ stream, id }) => `${stream} ${id}`));
  return delivered.filter(({ stream, id }) => isNew.delete(`${stream} ${id}`));
}

/** Keeps an event that the database refuses to apply, with the reason. */
export async function setEventAside(within: Queryable, refused: DeliveredEvent, reason: string): Promise<void> {
  await within.query(STORE, [JSON.stringify([describe(refused, reason)])]);
  await storePositions(within, [refused]);
}

/** Events that are kept and not applied, and that this release can read; the refused ones too. */
export async function readUnapplied(
  within: Queryable,
  after: StreamPosition,
  limit: number,
): Promise<{ readable: DeliveredEvent[]; last: StreamPosition | null }> {
  const rows = await within.query<{ stream: string; id: string; fields: string[] }>(
    `SELECT stream, id, fields FROM events WHERE NOT applied AND (stream, id) > ($1, $2) ORDER BY stream, id LIMIT $3`,
    [after.stream, after.id, limit],
  );
  const events = rows.map((row): DeliveredEvent => ({ ...row, event: parseBookEvent(row.fields) }));
  return { readable: events.filter(({ event }) => event.type !== 'unknown'), last: rows.at(-1) ?? null };
}

/** As the table has it, whatever its fields are: all that is kept of an event fits in every column and index. */
function describe({ stream, id, event, fields }: DeliveredEvent, refused: string | null) {
  const isRead = event.type !== 'unknown';
  const payment = isRead ? event.payment : (event.fields['payment'] ?? '');
  const applied = isRead && refused === null;
  return {
    stream,
    id,
    type: event.type,
    payment: clean(payment, MOST_NAME),
    applied,
    at: new Date(isRead ? event.atMs : believedTime(Number.parseInt(id, 10))),
    fields: cut(fields),
    names: applied ? null : findNames(fields),
    refused: refused && clean(refused, MOST_REASON),
  };
}

/** More than our processes write: what else there is of an event is not kept. */
const [MOST_FIELDS, MOST_KEPT, MOST_NAME, MOST_NAMES, MOST_REASON] = [64, 300_000, 300, 1_000, 1_000];

function cut(fields: readonly string[]): string[] {
  let left = MOST_KEPT;
  return fields.slice(0, MOST_FIELDS).map((field) => {
    const kept = clean(field, left);
    left -= kept.length;
    return kept;
  });
}

/** The transactions that an event which is not applied may be about, in any of its fields. */
function findNames(fields: readonly string[]): string[] {
  const found = cut(fields).flatMap((field) => field.toLowerCase().match(/0x[0-9a-f]{64}/g) ?? []);
  return [...new Set(found)].slice(0, MOST_NAMES);
}

/** Without the NULs and halves of surrogate pairs that PostgreSQL has no text for. */
function clean(text: string, most: number): string {
  return text
    .slice(0, most)
    .replaceAll('\0', '\uFFFD')
    .replaceAll(/\p{Surrogate}/gu, '\uFFFD');
}
