import { z } from 'zod';

import { listedPayment, type ListedPayment } from '../bookings/describe-payment.js';
import type { PaymentReports } from '../bookings/payment-record.js';
import type { Queryable } from '../database/database.js';
import { balance } from './read-balances.js';
import { findBookedPayment } from './search-payments.js';

const bookedEntry = balance.extend({ id: z.int(), booking: z.int(), kind: z.string(), bookedAt: z.string() });
type BookedEntry = z.output<typeof bookedEntry>;

/** A step in the life of a payment. */
const timelineStep = z.object({
  step: z.string(),
  at: z.string(),
  detail: z.string().exactOptional().describe('Of `presented`: what was asked for, such as `GET /api/weather/Bern`.'),
});
export type TimelineStep = z.output<typeof timelineStep>;

export interface ReportedPayment extends ListedPayment {
  readonly reported: PaymentReports;
}

export const paymentPicture = listedPayment.extend({
  reported: z.custom<PaymentReports>().meta({ type: 'object', description: 'What the events said, by type.' }),
  timeline: z.array(timelineStep).readonly().describe('In the order of their times.'),
  entries: z.array(bookedEntry).readonly(),
});
export type PaymentPicture = z.output<typeof paymentPicture>;

/** The refunds of a payment whose transfers are booked. */
export async function readPaidBack(within: Queryable, id: string): Promise<NonNullable<PaymentReports['refunded']>> {
  const [row] = await within.query<Pick<PaymentReports, 'refunded'>>(
    "SELECT reported -> 'refunded' AS refunded FROM payments WHERE id = $1",
    [id],
  );
  return row?.refunded ?? [];
}

/** Everything about one payment; null when the book does not know it. */
export async function readBookedPayment(within: Queryable, id: string): Promise<PaymentPicture | null> {
  const payment = await findBookedPayment(within, id);
  if (payment === null) return null;
  const entries = await within.query<Omit<BookedEntry, 'bookedAt'> & { at: Date }>(
    `SELECT entries.id, booking, kind, booked_at AS at, account, asset, amount::text
      FROM bookings JOIN entries ON entries.booking = bookings.id WHERE payment = $1 ORDER BY entries.id`,
    [id],
  );
  return {
    ...payment,
    timeline: createTimeline(payment),
    entries: entries.map(({ at, ...entry }) => ({ ...entry, bookedAt: at.toISOString() })),
  };
}

function createTimeline({ reported, path, query }: Pick<ReportedPayment, 'reported' | 'path' | 'query'>) {
  const { answered, settled, released, refused, transfer, removed, refunding, refunded } = reported;
  const { presentedAtMs, verifiedAtMs, claimedAtMs, fulfilledAtMs, settledAtMs } = answered?.timeline ?? {};
  const steps: [step: string, atMs: number | null | undefined][] = [
    ['presented', presentedAtMs],
    // In the order in which steps follow each other, for those of one millisecond: the claim comes before its reply.
    ['claimed', claimedAtMs],
    ['verified', verifiedAtMs],
    ['fulfilled', fulfilledAtMs],
    ['settled', settledAtMs ?? settled?.atMs],
    ['answered', answered?.atMs],
    ['released', released?.atMs],
    ['refused', refused?.atMs],
    ['arrived', transfer?.atMs],
    ['removed', removed?.atMs],
    ['refunding', refunding?.atMs],
    ...(refunded ?? []).map(({ atMs }): [string, number] => ['refunded', atMs]),
  ];
  // By the gateway's clock the answer's own steps, and by Redis's the answer, which follows them all the same.
  const answeredAfterMs = Math.max(fulfilledAtMs ?? 0, settledAtMs ?? 0);
  return steps
    .flatMap(([step, atMs]) => (typeof atMs === 'number' ? [{ step, atMs }] : []))
    .map((one) => ({ ...one, orderMs: one.step === 'answered' ? Math.max(one.atMs, answeredAfterMs) : one.atMs }))
    .sort((one, other) => one.orderMs - other.orderMs)
    .map(({ step, atMs }): TimelineStep => {
      const isRequest = step === 'presented' && path !== null;
      const detail = `${answered?.method ?? ''} ${path}${query ? `?${query}` : ''}`;
      return { step, at: new Date(atMs).toISOString(), ...(isRequest && { detail }) };
    });
}
