import type { Queryable } from '../database/database.js';
import type { OutgoingEvent } from './outgoing-event.js';

/** Adds events, and a delivery of each for every webhook target that wants it. Known ids are not added again. */
export async function storeOutgoingEvents(within: Queryable, events: readonly OutgoingEvent[]): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map((event) => ({
    ...{ id: event.id, type: event.type, at: event.at },
    content: JSON.stringify(event),
  }));
  await within.query(
    `WITH added AS (
      INSERT INTO payment_events (id, type, at, content)
        SELECT id, type, at, content FROM ROWS FROM (jsonb_to_recordset($1::jsonb) AS
          (id text, type text, at timestamptz, content text)) WITH ORDINALITY AS e(id, type, at, content, place)
        ORDER BY place
      ON CONFLICT (id) DO NOTHING RETURNING number, type)
    INSERT INTO webhook_deliveries (target, event)
      SELECT webhook_targets.id, added.number FROM added JOIN webhook_targets
        ON disabled IS NULL AND (events = '{}' OR added.type = ANY(events))`,
    [JSON.stringify(rows)],
  );
}
