import type { Queryable } from '../database/database.js';
import type { DeliveredEvent } from './take-events.js';

export const NOT_ASKED_FOR = 'The book has no refund of this payment that this transaction paid.';

/**
 * The events of refunds that the book has not asked for, or not as they say: everybody who writes to Redis can report one. The
 * book notes the transaction of a refund before it reports it, so the events of its own refunds always agree.
 */
export async function findStrangeRefunds(
  within: Queryable,
  delivered: readonly DeliveredEvent[],
): Promise<ReadonlySet<DeliveredEvent>> {
  const reported = delivered.flatMap(({ event }, at) => {
    if (event.type !== 'refunded') return [];
    const { refund: id, transaction, recipient, amount } = event.facts;
    return [{ at, id, payment: event.payment, transaction, recipient, amount }];
  });
  if (reported.length === 0) return new Set();
  const known = await within.query<{ at: number }>(
    `SELECT at FROM jsonb_to_recordset($1::jsonb)
        AS told(at integer, id text, payment text, transaction text, recipient text, amount text)
      JOIN refunds USING (id, payment) WHERE refunds.amount::text = told.amount
        AND lower(refunds.transaction) = lower(told.transaction) AND lower(refunds.recipient) = lower(told.recipient)`,
    [JSON.stringify(reported)],
  );
  const isKnown = new Set(known.map(({ at }) => at));
  return new Set(reported.flatMap(({ at }) => (isKnown.has(at) ? [] : (delivered[at] ?? []))));
}
