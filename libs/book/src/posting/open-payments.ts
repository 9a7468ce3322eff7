import type { NewBooking } from '../bookings/booking.js';
import { bookPayment } from '../bookings/describe-bookings.js';
import { describePayment, type BookSeller } from '../bookings/describe-payment.js';
import type { BookedPayment } from '../bookings/payment-record.js';
import type { Queryable } from '../database/database.js';
import { expectTransfers, type ExpectedTransfer } from './expect-transfers.js';
import { loadPayments, storePayments } from './store-payments.js';

/** Payments that one transaction of the database changes. */
export class OpenPayments {
  readonly #changed = new Map<string, BookedPayment>();

  private constructor(
    private readonly before: ReadonlyMap<string, BookedPayment>,
    private readonly seller: BookSeller,
  ) {}

  static async load(within: Queryable, ids: readonly string[], seller: BookSeller): Promise<OpenPayments> {
    return new OpenPayments(await loadPayments(within, [...new Set(ids)]), seller);
  }

  /** As it is now; undefined for one that was not loaded. */
  find(id: string): BookedPayment | undefined {
    return this.#changed.get(id) ?? this.before.get(id);
  }

  /** Returns what has to be booked. */
  change(id: string, change: (payment: BookedPayment) => BookedPayment): NewBooking | null {
    const before = this.find(id);
    if (before === undefined) return null;
    const after = change(before);
    this.#changed.set(id, after);
    return bookPayment(before, after, this.seller);
  }

  /** Writes what was changed, and which transfers the chain has to show for it. */
  async store(within: Queryable): Promise<void> {
    const changed = [...this.#changed.values()];
    if (changed.length === 0) return;
    await storePayments(within, changed, this.seller);
    await expectTransfers(
      within,
      changed.flatMap((after): ExpectedTransfer[] => {
        const before = this.before.get(after.id);
        const facts = describePayment(after, this.seller);
        return before ? [{ id: after.id, before: describePayment(before, this.seller), facts }] : [];
      }),
      this.seller,
    );
  }
}
