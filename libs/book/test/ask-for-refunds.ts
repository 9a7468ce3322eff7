import type { BookEvent } from '@tollgate/book-events';

import type { Queryable } from '../src/database/database.js';

/** Has the book have asked for the refunds that these events report, and know the transactions that paid them. */
export async function askForRefunds(database: Queryable, ...events: readonly BookEvent[]): Promise<void> {
  const rows = events.flatMap((event, index) =>
    event.type === 'refunded' ? [{ place: index + 1, payment: event.payment, ...event.facts }] : [],
  );
  await database.query(
    `INSERT INTO refunds (id, payment, number, state, amount, chain_id, asset, recipient, answered, doubts, asked_by,
        asked_at, changed_at, attempt, transaction, arrived_in, takes)
      SELECT refund, payment, (SELECT count(*) FROM refunds known WHERE known.payment = asked.payment) + place, 'refunded',
          amount, 1328, '', recipient, false, '[]', '{}', now(), now(), 1, transaction, '', '[]'
        FROM jsonb_to_recordset($1::jsonb) AS asked(place integer, refund text, payment text, amount numeric, recipient text, transaction text)`,
    [JSON.stringify(rows)],
  );
}
