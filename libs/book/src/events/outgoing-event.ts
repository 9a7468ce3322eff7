import type { RefundedFacts } from '@tollgate/book-events';

import type { JsonTree } from '../bookings/booking.js';
import { describePayment, type BookSeller, type ListedPayment } from '../bookings/describe-payment.js';
import type { BookedPayment, PaymentReports } from '../bookings/payment-record.js';
import type { Queryable } from '../database/database.js';

export const OUTGOING_EVENT_TYPES = [
  ...(['payment.settled', 'payment.answered', 'payment.released', 'payment.refused', 'payment.refunded'] as const),
  ...(['book.closed', 'reconcile.difference'] as const),
] as const;
export type OutgoingEventType = (typeof OUTGOING_EVENT_TYPES)[number];

/** An event as webhooks, event streams and Nest services receive it: at least once, always with the same id. */
export interface OutgoingEvent {
  /** The version of this shape. Fields are added within a version, and never changed or removed. */
  readonly version: 1;
  readonly id: string;
  readonly type: OutgoingEventType;
  /** When it happened. ISO 8601, UTC. */
  readonly at: string;
  /** `payment.*`: the payment after the event, as `GET /operator/payments` lists it. */
  readonly payment?: ListedPayment;
  /** `payment.refunded`: this refund; the payment's `refunded` is the sum of all. */
  readonly refund?: Readonly<RefundedFacts>;
  /** `book.closed`: as `GET /operator/closings` lists it. */
  readonly closing?: {
    readonly content: object;
    readonly hash: string;
    readonly signer: string;
    readonly signature: string;
  };
  /** `reconcile.difference` */
  readonly difference?: Readonly<Record<string, JsonTree>>;
}

/** What another report has changed for a payment, as events. None for a report that was known, or only repeats one. */
export function describeOutgoingEvents(
  before: BookedPayment,
  after: BookedPayment,
  seller: BookSeller,
): OutgoingEvent[] {
  const news = describeNews(before.reports, after.reports);
  if (news.length === 0) return [];
  const payment = listPayment(after, describePayment(after, seller));
  return news.map(({ type, atMs, name, refund }): OutgoingEvent => ({
    version: 1,
    id: [type, after.id, ...(name === undefined ? [] : [name])].join(':'),
    type,
    at: new Date(atMs).toISOString(),
    payment,
    ...(refund && { refund }),
  }));
}

/**
 * A difference between the chain and the book.
 * @param name what it is about, such as a transaction and the index of a log: one event for each
 */
export function describeDifference(
  name: string,
  atMs: number,
  difference: Readonly<Record<string, JsonTree>>,
): OutgoingEvent {
  const at = new Date(atMs).toISOString();
  return { version: 1, id: `reconcile.difference:${name}`, type: 'reconcile.difference', at, difference };
}

interface News {
  readonly type: OutgoingEventType;
  readonly atMs: number;
  /** Tells events of one type and payment apart. */
  readonly name?: string;
  readonly refund?: OutgoingEvent['refund'];
}

function describeNews(before: PaymentReports, after: PaymentReports): News[] {
  const news: News[] = [];
  const { settled, answered, released, refused, refunded = [] } = after;
  if (settled && !before.settled) news.push({ type: 'payment.settled', atMs: settled.atMs });
  if (answered && !before.answered) news.push({ type: 'payment.answered', atMs: answered.atMs });
  if (released && released.atMs !== before.released?.atMs) {
    news.push({ type: 'payment.released', atMs: released.atMs, name: String(released.atMs) });
  }
  // Repeats of one failure raise its count alone.
  if (refused && refused.failure !== before.refused?.failure) {
    news.push({ type: 'payment.refused', atMs: refused.atMs, name: refused.failure });
  }
  for (const { refund, transaction, amount, recipient, atMs } of refunded.slice(before.refunded?.length ?? 0)) {
    const event = { refund: { refund, transaction, amount, recipient }, name: transaction };
    news.push({ type: 'payment.refunded', atMs, ...event });
  }
  return news;
}

function listPayment(
  { id, reports }: BookedPayment,
  { atMs, chainId: _, ...facts }: ReturnType<typeof describePayment>,
): ListedPayment {
  return { id, at: new Date(atMs).toISOString(), ...facts, releaseReason: reports.released?.reason ?? null };
}

/** Adds events, in their order. Known ids are not added again. */
export async function storeOutgoingEvents(within: Queryable, events: readonly OutgoingEvent[]): Promise<void> {
  if (events.length === 0) return;
  await within.query(
    `INSERT INTO payment_events (id, type, at, content)
      SELECT id, type, at, content
      FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::text[]) WITH ORDINALITY AS e(id, type, at, content, place)
      ORDER BY place
      ON CONFLICT (id) DO NOTHING`,
    [
      events.map(({ id }) => id),
      events.map(({ type }) => type),
      events.map(({ at }) => at),
      events.map((event) => JSON.stringify(event)),
    ],
  );
}

/**
 * Gives the next event a higher number than any that a lost book has given: it gave less than one for each millisecond. A
 * reader that was further than the copy then misses nothing.
 */
export async function skipEventNumbers(within: Queryable): Promise<void> {
  await within.query(
    `SELECT setval(numbers, greatest(nextval(numbers), (extract(epoch FROM clock_timestamp()) * 1000)::bigint))
      FROM CAST(pg_get_serial_sequence('payment_events', 'number') AS regclass) AS numbers`,
  );
}
