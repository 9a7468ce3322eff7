import type { ListedPayment } from '../bookings/describe-payment.js';
import type { PaymentReports } from '../bookings/payment-record.js';
import type { Queryable } from '../database/database.js';
import { findBookedPayment } from './search-payments.js';

export interface BookedEntry {
  readonly id: number;
  readonly booking: number;
  readonly kind: string;
  readonly bookedAt: string;
  readonly account: string;
  readonly asset: string;
  /** Base units; a debit is positive, a credit negative. */
  readonly amount: string;
}

/** A step in the life of a payment. */
export interface TimelineStep {
  readonly step: string;
  readonly at: string;
}

export interface PaymentPicture extends ListedPayment {
  /** In the order of their times. */
  readonly timeline: readonly TimelineStep[];
  /** What the events said, by type. */
  readonly reported: PaymentReports;
  readonly entries: readonly BookedEntry[];
}

/** Everything about one payment; null when the book does not know it. */
export async function readBookedPayment(within: Queryable, id: string): Promise<PaymentPicture | null> {
  const listed = await findBookedPayment(within, id);
  if (listed === null) return null;
  const [row] = await within.query<{ reported: PaymentReports }>('SELECT reported FROM payments WHERE id = $1', [id]);
  const reported = row?.reported ?? {};
  const entries = await within.query<Omit<BookedEntry, 'bookedAt'> & { at: Date }>(
    `SELECT entries.id, booking, kind, booked_at AS at, account, asset, amount::text
      FROM bookings JOIN entries ON entries.booking = bookings.id WHERE payment = $1 ORDER BY entries.id`,
    [id],
  );
  return {
    ...listed,
    timeline: createTimeline(reported),
    reported,
    entries: entries.map(({ at, ...entry }) => ({ ...entry, bookedAt: at.toISOString() })),
  };
}

function createTimeline(reports: PaymentReports) {
  const { answered, settled, released, refused, transfer, removed, refunding, refunded } = reports;
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
  return steps
    .flatMap(([step, atMs]) => (typeof atMs === 'number' ? [{ step, atMs }] : []))
    .sort((one, other) => one.atMs - other.atMs)
    .map(({ step, atMs }): TimelineStep => ({ step, at: new Date(atMs).toISOString() }));
}
