import type { Queryable } from '../database/database.js';
import type { OutgoingEvent } from './outgoing-event.js';

/** Adds events, and a delivery of each for every webhook target that wants it. Known ids are not added again. */
export async function storeOutgoingEvents(within: Queryable, events: readonly OutgoingEvent[]): Promise<void> {
  if (events.length === 0) return;
  await within.query(
    `WITH added AS (
      INSERT INTO payment_events (id, type, at, content)
        SELECT id, type, at, content
        FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::text[]) WITH ORDINALITY AS e(id, type, at, content, place)
        ORDER BY place
      ON CONFLICT (id) DO NOTHING RETURNING number, type)
    INSERT INTO webhook_deliveries (target, event)
      SELECT webhook_targets.id, added.number FROM added JOIN webhook_targets
        ON disabled IS NULL AND (events = '{}' OR added.type = ANY(events))`,
    [
      events.map(({ id }) => id),
      events.map(({ type }) => type),
      events.map(({ at }) => at),
      events.map((event) => JSON.stringify(event)),
    ],
  );
}
